package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// cluster is a running API server.
type cluster struct {
	Kubeconfig string `json:"kubeconfig"`
	command    *exec.Cmd
	stdin      io.Closer
}

// stop ends the server and waits until it is gone.
func (c *cluster) stop() {
	_ = c.stdin.Close()
	_ = c.command.Process.Signal(syscall.SIGTERM)
	_ = c.command.Wait()
}

// starter returns what starts a fresh cluster. Programs that are needed are built first.
func starter(ctx context.Context, server, folder string) (func(context.Context, string) (*cluster, error), error) {
	var build, start []string
	switch server {
	case "embedded":
		program := os.Getenv("KUBEWRIGHT")
		if program == "" {
			build = []string{"cargo", "build", "--quiet", "--locked", "--package", "kubewright-cli", "--manifest-path", "../../Cargo.toml"}
			program = filepath.Join(targetFolder(), "debug", "kubewright")
		}
		start = []string{program, "cluster", "--secure-port", "0", "--output", "json", "--write-kubeconfig"}
	case "real":
		start = []string{"../oracle/run"}
		if programs := os.Getenv("ORACLE_BIN"); programs != "" {
			start = append(start, "-bin", programs)
		}
		build = append(start, "-build")
		// As envtest starts it: no controller creates the account that pods would otherwise have to wait for.
		start = append(start[:len(start):len(start)], "--", "--disable-admission-plugins=ServiceAccount")
	default:
		return nil, fmt.Errorf("a server is embedded or real, not %q", server)
	}
	if len(build) > 0 {
		command := exec.CommandContext(ctx, build[0], build[1:]...)
		command.Stdout, command.Stderr = os.Stderr, os.Stderr
		if err := command.Run(); err != nil {
			return nil, fmt.Errorf("%v: %w", build, err)
		}
	}
	number := 0
	return func(ctx context.Context, controllers string) (*cluster, error) {
		arguments := start
		if server == "embedded" {
			number++
			kubeconfig := filepath.Join(folder, fmt.Sprintf("kubeconfig-%d", number))
			arguments = append(start[:len(start):len(start)], kubeconfig, "--controllers", controllers)
		}
		return startCluster(ctx, arguments)
	}, nil
}

func startCluster(ctx context.Context, arguments []string) (*cluster, error) {
	command := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	c := &cluster{command: command, stdin: stdin}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, c)
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("%v did not become ready: %w", arguments, err)
	}
	return c, nil
}

// targetFolder is where Cargo puts what it builds.
func targetFolder() string {
	if folder := os.Getenv("CARGO_TARGET_DIR"); folder != "" {
		return folder
	}
	return "../../target"
}
