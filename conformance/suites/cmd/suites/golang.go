package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goSuite is controller-runtime's own tests, as its module at the version of go.mod has them.
var goSuite = suite{
	name: "go",
	packages: []pkg{
		{name: "builder", tests: 72},
		{name: "cache", tests: 276},
		{name: "client", tests: 311, skipped: 22},
		{name: "cluster", tests: 15},
		{name: "controller", tests: 32},
		{name: "controller/controllerutil", tests: 60},
		{name: "envtest", tests: 28},
		{name: "handler", tests: 96},
		{name: "internal/controller", tests: 75, skipped: 3},
		{name: "internal/recorder", tests: 5},
		{name: "manager", tests: 107},
		{name: "manager/internal/integration", tests: 2, failing: map[string]string{
			"manger.Manager Start should start all components without deadlock controller warmup not enabled": "the test before it leaves the object that it creates",
		}},
		{name: "reconcile", tests: 9},
		{name: "source", tests: 19, skipped: 1},
		{name: "webhook", tests: 8, skipped: 2},
	},
	run: runGo,
}

const controllerRuntime = "sigs.k8s.io/controller-runtime"

// report is the part that is read of what Ginkgo writes.
type report struct {
	SpecReports []struct {
		ContainerHierarchyTexts []string
		LeafNodeType            string
		LeafNodeText            string
		State                   string
		Failure                 struct{ Message string }
	}
}

func runGo(ctx context.Context, r *runner, p pkg) (counts, error) {
	importPath := controllerRuntime + "/pkg/" + p.name
	folder, err := output(ctx, "go", "list", "-f", "{{.Dir}}", importPath)
	if err != nil {
		return counts{}, err
	}
	program := filepath.Join(targetFolder(), "conformance", strings.ReplaceAll(p.name, "/", "_")+".test")
	if program, err = filepath.Abs(program); err != nil {
		return counts{}, err
	}
	if _, err := output(ctx, "go", "test", "-c", "-trimpath", "-o", program, importPath); err != nil {
		return counts{}, err
	}
	c, err := r.start(ctx, "none")
	if err != nil {
		return counts{}, err
	}
	defer c.stop()
	reportFile := filepath.Join(r.folder, "report.json")
	_ = os.Remove(reportFile)
	arguments := []string{"-test.timeout=20m", "-ginkgo.json-report=" + reportFile, "-ginkgo.no-color"}
	if r.focus != "" {
		arguments = append(arguments, "-ginkgo.focus="+r.focus)
	}
	if r.verbose {
		arguments = append(arguments, "-ginkgo.v")
	}
	command := exec.CommandContext(ctx, program, arguments...)
	// The tests read files beside them.
	command.Dir = folder
	command.Env = append(os.Environ(), "USE_EXISTING_CLUSTER=true", "KUBECONFIG="+c.Kubeconfig, "HOME="+r.folder)
	var said strings.Builder
	command.Stdout, command.Stderr = &said, &said
	if r.verbose {
		command.Stdout, command.Stderr = r.output, r.output
	}
	ended := command.Run()
	text, err := os.ReadFile(reportFile)
	if err != nil {
		return counts{}, fmt.Errorf("no report: %w", errors.Join(ended, errors.New(said.String())))
	}
	var reports []report
	if err := json.Unmarshal(text, &reports); err != nil {
		return counts{}, err
	}
	var result counts
	for _, report := range reports {
		for _, spec := range report.SpecReports {
			it := spec.LeafNodeType == "It"
			switch spec.State {
			case "passed":
				if it {
					result.passed++
				}
			case "skipped", "pending":
				// What a focus leaves out is skipped too.
				if it && r.focus == "" {
					result.skipped++
				}
			default:
				name := strings.Join(append(spec.ContainerHierarchyTexts, spec.LeafNodeText), " ")
				if !it {
					name = strings.TrimSpace(spec.LeafNodeType + " " + name)
				}
				result.failed = append(result.failed, failure{name, spec.Failure.Message})
			}
		}
	}
	if ended != nil && len(result.failed) == 0 {
		// A plain test of the package, or one that leaks.
		result.failed = append(result.failed, failure{p.name, said.String()})
	}
	return result, nil
}

// output runs a program and returns what it wrote, without the last line break.
func output(ctx context.Context, program string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", program, strings.Join(arguments, " "), err)
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}
