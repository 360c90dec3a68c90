package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// pythonSuite is the tests of the Python client that need a cluster.
var pythonSuite = suite{
	name: "python",
	packages: []pkg{
		{name: "dynamic.test_client", tests: 12, failing: map[string]string{
			"kubernetes.dynamic.test_client.TestDynamicClient.test_cluster_custom_resources":          oldDefinitions,
			"kubernetes.dynamic.test_client.TestDynamicClient.test_namespaced_custom_resources":       oldDefinitions,
			"kubernetes.dynamic.test_client.TestDynamicClient.test_async_namespaced_custom_resources": oldDefinitions,
		}},
		{name: "dynamic.test_discovery", tests: 2, failing: map[string]string{
			"kubernetes.dynamic.test_discovery.TestDiscoverer.test_cache_decoder_resource_and_subresource": "it compares objects whose equality is that of their addresses",
		}},
		{name: "aio.dynamic.client_test", tests: 11, failing: map[string]string{
			"kubernetes.aio.dynamic.client_test.TestDynamicClient.test_server_side_apply_api":       "it applies a Deployment to pods",
			"kubernetes.aio.dynamic.client_test.TestDynamicClient.test_cluster_custom_resources":    slowDefinitions,
			"kubernetes.aio.dynamic.client_test.TestDynamicClient.test_namespaced_custom_resources": slowDefinitions,
		}},
		{name: "aio.dynamic.discovery_test", tests: 3},
	},
	run: runPython,
}

const (
	oldDefinitions  = "it needs apiextensions.k8s.io/v1beta1, which is gone since Kubernetes 1.22"
	slowDefinitions = "a real server answers 429 for a moment after a definition was created, and the test does not try again"
)

func runPython(ctx context.Context, r *runner, p pkg) (counts, error) {
	python, source, err := pythonClient(ctx)
	if err != nil {
		return counts{}, err
	}
	c, err := r.start(ctx, "none")
	if err != nil {
		return counts{}, err
	}
	defer c.stop()
	command := exec.CommandContext(ctx, python, "python/run.py", source, r.focus, "kubernetes."+p.name)
	// The client caches discovery in the folder for temporary files, by the address of the server.
	folder, err := os.MkdirTemp(r.folder, "python")
	if err != nil {
		return counts{}, err
	}
	command.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig, "HOME="+folder, "TMPDIR="+folder)
	command.Stderr = r.output
	text, err := command.Output()
	if err != nil {
		return counts{}, fmt.Errorf("python/run.py: %w; -v shows why", err)
	}
	var result struct {
		Passed, Skipped int
		Failed          []struct{ Name, Message string }
	}
	if err := json.Unmarshal(text, &result); err != nil {
		return counts{}, err
	}
	made := counts{passed: result.Passed, skipped: result.Skipped}
	for _, f := range result.Failed {
		made.failed = append(made.failed, failure{f.Name, f.Message})
	}
	return made, nil
}

// pythonClient returns a Python that has what the client needs, and the client's unpacked source archive.
func pythonClient(ctx context.Context) (python, source string, err error) {
	requirements, err := os.ReadFile("python/requirements.txt")
	if err != nil {
		return "", "", err
	}
	version := regexp.MustCompile(`(?m)^kubernetes==(\S+)$`).FindSubmatch(requirements)
	if version == nil {
		return "", "", fmt.Errorf("python/requirements.txt does not name a version of kubernetes")
	}
	folder, err := filepath.Abs(filepath.Join(targetFolder(), "conformance", "python"))
	if err != nil {
		return "", "", err
	}
	environment := filepath.Join(folder, string(version[1]))
	python = filepath.Join(environment, "bin", "python")
	archive := "kubernetes-" + string(version[1])
	source = filepath.Join(environment, archive)
	if _, err := os.Stat(source); err == nil {
		return python, source, nil
	}
	for _, command := range [][]string{
		{"python3", "-m", "venv", "--clear", environment},
		{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "python/requirements.txt"},
		{python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:",
			"--dest", environment, "kubernetes==" + string(version[1])},
		{"tar", "-xzf", source + ".tar.gz", "-C", environment},
	} {
		if _, err := output(ctx, command[0], command[1:]...); err != nil {
			return "", "", err
		}
	}
	return python, source, nil
}
