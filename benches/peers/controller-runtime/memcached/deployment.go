package memcached

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	cachev1alpha1 "github.com/kubewright/kubewright/benches/peers/controller-runtime/api/v1alpha1"
)

// Instance is the label that names the Memcached to which an object belongs.
const instance = "app.kubernetes.io/instance"

// desired is the Deployment that a Memcached asks for.
func desired(memcached *cachev1alpha1.Memcached, image string) *appsv1ac.DeploymentApplyConfiguration {
	selector := map[string]string{"app.kubernetes.io/name": "memcached", instance: memcached.Name}
	labels := maps.Clone(selector)
	labels["app.kubernetes.io/managed-by"] = "memcached-operator"
	if _, tag, tagged := strings.Cut(image, ":"); tagged {
		labels["app.kubernetes.io/version"] = tag
	}
	owner := metav1ac.OwnerReference().
		WithAPIVersion(cachev1alpha1.GroupVersion.String()).
		WithKind("Memcached").
		WithName(memcached.Name).
		WithUID(memcached.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
	return appsv1ac.Deployment(memcached.Name, memcached.Namespace).
		WithLabels(labels).
		WithOwnerReferences(owner).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(memcached.Spec.Size).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(selector)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(corev1ac.PodSpec().
					WithSecurityContext(corev1ac.PodSecurityContext().
						WithRunAsNonRoot(true).
						WithSeccompProfile(corev1ac.SeccompProfile().
							WithType(corev1.SeccompProfileTypeRuntimeDefault))).
					WithContainers(container(memcached, image)))))
}

func container(memcached *cachev1alpha1.Memcached, image string) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName("memcached").
		WithImage(image).
		WithImagePullPolicy(corev1.PullIfNotPresent).
		WithCommand("memcached", "-m=64", "-o", "modern", "-v").
		WithPorts(corev1ac.ContainerPort().
			WithName("memcached").
			WithContainerPort(memcached.Spec.ContainerPort)).
		WithSecurityContext(corev1ac.SecurityContext().
			WithRunAsNonRoot(true).
			WithRunAsUser(1001).
			WithAllowPrivilegeEscalation(false).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL")))
}

// conditions are what the state of the Deployment means for the Memcached.
func conditions(memcached *cachev1alpha1.Memcached, deployment *appsv1ac.DeploymentApplyConfiguration) []metav1.Condition {
	wanted := memcached.Spec.Size
	status := deployment.Status
	if status == nil {
		status = appsv1ac.DeploymentStatus()
	}
	current := value(status.ObservedGeneration) == value(deployment.Generation)
	available := value(status.AvailableReplicas)
	isAvailable := current && available >= wanted
	isComplete := isAvailable && value(status.UpdatedReplicas) == wanted && value(status.Replicas) == wanted

	availability := metav1.Condition{
		Type: "Available", Status: metav1.ConditionFalse, Reason: "InstancesUnavailable",
		Message: itoa(available) + " of " + itoa(wanted) + " instances are available",
	}
	if isAvailable {
		availability.Status, availability.Reason = metav1.ConditionTrue, "InstancesAvailable"
	}
	progress := metav1.Condition{
		Type: "Progressing", Status: metav1.ConditionTrue, Reason: "RollingOut",
		Message: "instances are being started or replaced",
	}
	if isComplete {
		progress.Status, progress.Reason, progress.Message =
			metav1.ConditionFalse, "RolledOut", "all instances run as specified"
	}
	degraded := metav1.Condition{
		Type: "Degraded", Status: metav1.ConditionFalse, Reason: "AsExpected",
		Message: "the Deployment reports no problem",
	}
	if problem := problemOf(status.Conditions); problem != nil {
		degraded.Status, degraded.Reason, degraded.Message =
			metav1.ConditionTrue, "DeploymentFailed", value(problem.Message)
		if reason := value(problem.Reason); reason != "" {
			degraded.Reason = reason
		}
	}
	return []metav1.Condition{availability, progress, degraded}
}

func problemOf(conditions []appsv1ac.DeploymentConditionApplyConfiguration) *appsv1ac.DeploymentConditionApplyConfiguration {
	for index := range conditions {
		condition := &conditions[index]
		switch value(condition.Type) {
		case "Progressing":
			if value(condition.Status) == corev1.ConditionFalse {
				return condition
			}
		case "ReplicaFailure":
			if value(condition.Status) == corev1.ConditionTrue {
				return condition
			}
		}
	}
	return nil
}
