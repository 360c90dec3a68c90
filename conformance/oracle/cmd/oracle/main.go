// Command oracle runs the real kube-apiserver and etcd on loopback, building them first if needed.
//
// When the API server is ready it prints one JSON line {"url","token","ca","kubeconfig"}; ca and
// kubeconfig are paths. It ends both programs on SIGTERM, SIGINT or when its standard input is
// closed. Arguments after -- are passed to kube-apiserver.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

func main() {
	dir := flag.String("bin", "", "folder of the built programs (default: conformance/ in Cargo's target folder)")
	build := flag.Bool("build", false, "only build the programs")
	flag.Parse()
	if err := run(*dir, *build, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string, buildOnly bool, flags []string) error {
	if dir == "" {
		var err error
		if dir, err = server.CacheDir(); err != nil {
			return err
		}
	}
	binaries, err := server.Build(dir)
	if err != nil || buildOnly {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s, err := server.Start(ctx, binaries, flags...)
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
		return err
	}
	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(closed)
	}()
	select {
	case <-ctx.Done():
	case <-closed:
	}
	return nil
}
