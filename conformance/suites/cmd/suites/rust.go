package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// rustSuite is the tests of kube-rs that its authors leave out unless there is a cluster, of the version in Cargo.lock. Some need a kubelet;
// ours has one that only says that it runs containers.
var rustSuite = suite{
	name: "rust",
	packages: []pkg{
		{name: "kube", tests: 5, needNodes: []string{"test::pod_can_await_conditions"}},
		{name: "kube-client", tests: 21, failing: map[string]string{
			"test::pod_can_exec_and_write_to_stdin": noContainers,
			"test::can_get_pod_logs_and_evict":      noContainers,
		}},
		{name: "kube-runtime", tests: 3},
	},
	run: runRust,
}

const noContainers = "it needs containers that run"

// rustFeatures are what the tests of a crate are behind.
var rustFeatures = map[string]string{
	"kube":         "derive,runtime,client,ws",
	"kube-client":  "client,config,rustls-tls,ring,ws,jsonpatch,admission,unstable-client",
	"kube-runtime": "",
}

// rustDevelopment is what the manifests lost when they were published: the crates depend on each other for their tests.
var rustDevelopment = map[string]string{
	"kube-client":  `features = ["derive", "client", "ws"]`,
	"kube-runtime": `features = ["derive", "client", "runtime"]`,
}

func runRust(ctx context.Context, r *runner, p pkg) (counts, error) {
	manifest, err := kubeWorkspace(ctx)
	if err != nil {
		return counts{}, err
	}
	arguments := []string{"test", "--quiet", "--manifest-path", manifest, "--package", p.name, "--lib", "--features", rustFeatures[p.name]}
	build := exec.CommandContext(ctx, "cargo", append(arguments, "--no-run")...)
	build.Stderr = r.output
	if err := build.Run(); err != nil {
		return counts{}, fmt.Errorf("cargo test --no-run: %w; -v shows why", err)
	}
	c, err := r.start(ctx, "*")
	if err != nil {
		return counts{}, err
	}
	defer c.stop()
	// One after the other: they use the same names.
	arguments = append(arguments, "--", "--ignored", "--test-threads=1", "--format=pretty")
	if r.focus != "" {
		arguments = append(arguments, r.focus)
	}
	command := exec.CommandContext(ctx, "cargo", arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	command.Stderr = r.output
	text, ended := command.Output()
	_, _ = r.output.Write(text)
	made := libtest(string(text))
	if ended != nil && len(made.failed) == 0 {
		return counts{}, fmt.Errorf("cargo test: %w; -v shows why", ended)
	}
	return made, nil
}

var libtestLine = regexp.MustCompile(`(?m)^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)`)

// libtest reads what a Rust test program printed.
func libtest(text string) counts {
	var made counts
	for _, line := range libtestLine.FindAllStringSubmatch(text, -1) {
		switch line[2] {
		case "ok":
			made.passed++
		case "ignored":
			made.skipped++
		default:
			_, message, _ := strings.Cut(text, "---- "+line[1]+" stdout ----\n")
			message, _, _ = strings.Cut(message, "\n---- ")
			message, _, _ = strings.Cut(message, "\nfailures:\n")
			made.failed = append(made.failed, failure{line[1], message})
		}
	}
	return made
}

// kubeWorkspace puts the sources of kube-rs, as crates.io has them, into a workspace in Cargo's target folder.
func kubeWorkspace(ctx context.Context) (string, error) {
	text, err := output(ctx, "cargo", "metadata", "--format-version=1", "--locked", "--manifest-path", "../../Cargo.toml")
	if err != nil {
		return "", err
	}
	var metadata struct {
		Packages []struct {
			Name, Version string
			ManifestPath  string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal([]byte(text), &metadata); err != nil {
		return "", err
	}
	folder, err := filepath.Abs(filepath.Join(targetFolder(), "conformance", "kube-rs"))
	if err != nil {
		return "", err
	}
	workspace := "[workspace]\nresolver = \"2\"\nmembers = [\"kube\", \"kube-client\", \"kube-runtime\"]\n\n[patch.crates-io]\n"
	for _, p := range metadata.Packages {
		if _, wanted := rustFeatures[p.Name]; !wanted {
			continue
		}
		workspace += fmt.Sprintf("%s = { path = %q }\n", p.Name, p.Name)
		made := filepath.Join(folder, p.Name)
		if err := os.RemoveAll(made); err != nil {
			return "", err
		}
		if err := os.CopyFS(made, os.DirFS(filepath.Dir(p.ManifestPath))); err != nil {
			return "", err
		}
		if features, ok := rustDevelopment[p.Name]; ok {
			manifest := filepath.Join(made, "Cargo.toml")
			old, err := os.ReadFile(manifest)
			if err != nil {
				return "", err
			}
			added := fmt.Appendf(bytes.Clone(old), "\n[dev-dependencies.kube]\npath = \"../kube\"\n%s\n", features)
			if err := os.WriteFile(manifest, added, 0o644); err != nil {
				return "", err
			}
		}
	}
	manifest := filepath.Join(folder, "Cargo.toml")
	if err := os.WriteFile(manifest, []byte(workspace), 0o644); err != nil {
		return "", err
	}
	// The versions that we are tested with.
	lock, err := os.ReadFile("../../Cargo.lock")
	if err != nil {
		return "", err
	}
	return manifest, os.WriteFile(filepath.Join(folder, "Cargo.lock"), lock, 0o644)
}
