// Package server builds the real kube-apiserver and etcd and runs the pair on loopback.
package server

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// Binaries are the paths of the built programs.
type Binaries struct {
	APIServer string
	Etcd      string
}

// Build compiles both programs at the versions of go.mod, unless dir already has them from the
// same go.mod. A first build takes some minutes.
func Build(dir string) (Binaries, error) {
	b := Binaries{APIServer: filepath.Join(dir, "kube-apiserver"), Etcd: filepath.Join(dir, "etcd")}
	gomod, err := moduleFile()
	if err != nil {
		return b, err
	}
	content, err := os.ReadFile(gomod)
	if err != nil {
		return b, err
	}
	stamp := fmt.Sprintf("%x\n", sha256.Sum256(content))
	stampFile := filepath.Join(dir, "go.mod.sha256")
	if old, err := os.ReadFile(stampFile); err == nil && string(old) == stamp && exists(b.APIServer) && exists(b.Etcd) {
		return b, nil
	}
	version := regexp.MustCompile(`k8s\.io/kubernetes v1\.(\d+)\.(\d+)`).FindSubmatch(content)
	if version == nil {
		return b, fmt.Errorf("%s does not require k8s.io/kubernetes v1", gomod)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return b, err
	}
	const info = "k8s.io/component-base/version"
	ldflags := fmt.Sprintf("-s -w -X %[1]s.gitVersion=v1.%[2]s.%[3]s -X %[1]s.gitMajor=1 -X %[1]s.gitMinor=%[2]s", info, version[1], version[2])
	if err := goBuild(filepath.Dir(gomod), ldflags, b.APIServer, "k8s.io/kubernetes/cmd/kube-apiserver"); err != nil {
		return b, err
	}
	if err := goBuild(filepath.Dir(gomod), "-s -w", b.Etcd, "go.etcd.io/etcd/server/v3"); err != nil {
		return b, err
	}
	return b, os.WriteFile(stampFile, []byte(stamp), 0o644)
}

func goBuild(module, ldflags, out, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", ldflags, "-o", out, pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s: %w", pkg, err)
	}
	return nil
}

// moduleFile is this module's go.mod, found from the current folder.
func moduleFile() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	path := filepath.Clean(string(out[:max(len(out)-1, 0)]))
	if filepath.Base(path) != "go.mod" {
		return "", fmt.Errorf("run this inside conformance/oracle")
	}
	return path, nil
}

// CacheDir is where the programs are kept: conformance/ in Cargo's target folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("CARGO_TARGET_DIR"); dir != "" {
		return filepath.Join(dir, "conformance"), nil
	}
	gomod, err := moduleFile()
	if err != nil {
		return "", err
	}
	return filepath.Join(filepath.Dir(gomod), "..", "..", "target", "conformance"), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
