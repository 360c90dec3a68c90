package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kubectlSuite compares what kubectl prints with the transcripts of crates/kubewright-cli/tests. Against a real server it fails where a
// transcript is out of date; with KUBEWRIGHT_UPDATE=1 it writes them.
var kubectlSuite = suite{name: "kubectl", packages: transcripts("1.32", "1.37"), run: runTranscript}

// helmSuite is the tests of crates/kubewright-cli that run helm. They start their own clusters, with controllers.
var helmSuite = suite{name: "helm", packages: []pkg{{name: "helm", tests: 2}}, run: runHelm}

// transcripts are the packages of kubectlSuite: each file for each version.
func transcripts(versions ...string) []pkg {
	var packages []pkg
	for _, version := range versions {
		for _, name := range []string{"access", "apply", "change", "create", "delete", "describe", "get"} {
			packages = append(packages, pkg{name: version + "/" + name, tests: 1})
		}
	}
	return packages
}

func runTranscript(ctx context.Context, r *runner, p pkg) (counts, error) {
	c, err := r.start(ctx, "none")
	if err != nil {
		return counts{}, err
	}
	defer c.stop()
	version, name, _ := strings.Cut(p.name, "/")
	test := "kubectl_" + strings.ReplaceAll(version, ".", "_") + "::" + name
	return r.cargoTest(ctx, "transcripts", []string{"--exact", test}, "KUBEWRIGHT_TRANSCRIPT_KUBECONFIG="+c.Kubeconfig)
}

func runHelm(ctx context.Context, r *runner, p pkg) (counts, error) {
	return r.cargoTest(ctx, "helm", nil)
}

// cargoTest runs a test file of kubewright-cli with the clients of this folder.
func (r *runner) cargoTest(ctx context.Context, file string, arguments []string, environment ...string) (counts, error) {
	clients, err := output(ctx, "./clients")
	if err != nil {
		return counts{}, err
	}
	if clients, err = filepath.Abs(clients); err != nil {
		return counts{}, err
	}
	command := exec.CommandContext(ctx, "cargo", append([]string{"test", "--locked", "--manifest-path", "../../Cargo.toml",
		"--package", "kubewright-cli", "--test", file, "--"}, arguments...)...)
	command.Env = append(append(os.Environ(), "KUBEWRIGHT_CLIENTS="+clients), environment...)
	command.Stderr = r.output
	text, err := command.Output()
	_, _ = r.output.Write(text)
	made := libtest(string(text))
	if made.passed+len(made.failed) == 0 {
		return counts{}, fmt.Errorf("cargo test --test %s: %w; -v shows why", file, err)
	}
	return made, nil
}
