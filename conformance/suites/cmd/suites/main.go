// Command suites runs the tests of controller-runtime, kube-rs, the Python client, kubectl and helm, as they were published,
// against a cluster.
//
// Each package gets a fresh cluster: `kubewright cluster --controllers none`, with controllers for the tests of kube-rs, which need pods
// that run, or with -server real kube-apiserver and etcd.
// A table of what ran is printed; the exit code is 1 if a test failed, or if another number ran than is known of the package.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// suite is the tests of one project.
type suite struct {
	name string
	// packages are the parts that can be run alone, in the order in which they run.
	packages []pkg
	run      func(ctx context.Context, r *runner, p pkg) (counts, error)
}

// pkg is a part of a suite.
type pkg struct {
	name string
	// tests is how many run. Fewer or more mean that the part is not run as it was.
	tests int
	// skipped is how many are left out by their authors.
	skipped int
	// failing are tests that fail against a real server, by name, with the reason. They may fail against ours.
	failing map[string]string
	// needNodes are tests that wait for pods to run. They fail against the real server, which is started without nodes here, and not
	// against ours.
	needNodes []string
}

// known is why a test is expected to fail against a server, or nothing.
func (p pkg) known(test, server string) string {
	if server == "real" && slices.Contains(p.needNodes, test) {
		return "it needs nodes"
	}
	return p.failing[test]
}

// counts is what a part did.
type counts struct {
	passed, skipped int
	failed          []failure
}

type failure struct{ name, message string }

// runner is what the parts share.
type runner struct {
	// start starts a fresh cluster that runs these controllers, where it can.
	start   func(ctx context.Context, controllers string) (*cluster, error)
	focus   string
	output  io.Writer
	folder  string
	verbose bool
}

var suites = []suite{goSuite, pythonSuite, rustSuite, kubectlSuite, helmSuite}

func main() {
	server := flag.String("server", "embedded", "the cluster: embedded, or real for kube-apiserver and etcd")
	focus := flag.String("focus", "", "only the tests whose name matches")
	verbose := flag.Bool("v", false, "show the output of the tests")
	flag.Usage = usage
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ok, err := run(ctx, *server, *focus, *verbose, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(flag.CommandLine.Output(), "usage: run [FLAGS] [SUITE [PACKAGE...]]")
	for _, s := range suites {
		fmt.Fprintf(flag.CommandLine.Output(), "  %s:", s.name)
		for _, p := range s.packages {
			fmt.Fprintf(flag.CommandLine.Output(), " %s", p.name)
		}
		fmt.Fprintln(flag.CommandLine.Output())
	}
	flag.PrintDefaults()
}

func run(ctx context.Context, server, focus string, verbose bool, arguments []string) (bool, error) {
	chosen, err := choose(arguments)
	if err != nil {
		return false, err
	}
	folder, err := os.MkdirTemp("", "suites")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	r := &runner{focus: focus, output: io.Discard, folder: folder, verbose: verbose}
	if verbose {
		r.output = os.Stderr
	}
	if r.start, err = starter(ctx, server, folder); err != nil {
		return false, err
	}
	fmt.Printf("%-8s %-32s %6s %6s %7s %8s\n", "suite", "package", "passed", "failed", "skipped", "seconds")
	ok := true
	for _, s := range chosen {
		for _, p := range s.packages {
			began := time.Now()
			c, err := s.run(ctx, r, p)
			if err != nil {
				return false, fmt.Errorf("%s %s: %w", s.name, p.name, err)
			}
			fmt.Printf("%-8s %-32s %6d %6d %7d %8.1f\n", s.name, p.name, c.passed, len(c.failed), c.skipped, time.Since(began).Seconds())
			for _, f := range c.failed {
				if reason := p.known(f.name, server); reason != "" {
					fmt.Printf("    as expected: %s (%s)\n", f.name, reason)
					continue
				}
				ok = false
				fmt.Printf("    FAILED %s\n%s", f.name, indented(f.message))
			}
			if focus == "" && (c.passed+len(c.failed) != p.tests || c.skipped != p.skipped) {
				ok = false
				fmt.Printf("    %d tests and %d skipped were expected\n", p.tests, p.skipped)
			}
		}
	}
	return ok, nil
}

// choose returns the suites and packages that were named, or all.
func choose(arguments []string) ([]suite, error) {
	if len(arguments) == 0 {
		return suites, nil
	}
	at := slices.IndexFunc(suites, func(s suite) bool { return s.name == arguments[0] })
	if at < 0 {
		return nil, fmt.Errorf("no suite is called %q; -h lists them", arguments[0])
	}
	chosen := suites[at]
	if names := arguments[1:]; len(names) > 0 {
		chosen.packages = nil
		for _, name := range names {
			at := slices.IndexFunc(suites[at].packages, func(p pkg) bool { return p.name == name })
			if at < 0 {
				return nil, fmt.Errorf("%s has no package %q; -h lists them", chosen.name, name)
			}
			chosen.packages = append(chosen.packages, suites[slices.IndexFunc(suites, func(s suite) bool { return s.name == chosen.name })].packages[at])
		}
	}
	return []suite{chosen}, nil
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		b.WriteString("        " + line)
	}
	return b.String()
}
