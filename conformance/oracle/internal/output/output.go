// Package output writes generated data into the API server's crate, or checks what is there.
package output

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// Write puts content into the crate's data folder under name, if it differs. With --check it
// changes nothing and ends the program with exit code 1 if it would have.
func Write(name string, content []byte) {
	check := flag.Bool("check", false, "change nothing; exit 1 if the file is not up to date")
	dir := flag.String("data", "", "folder to write to (default: the data folder of kubewright-apiserver)")
	if !flag.Parsed() {
		flag.Parse()
	}
	if *dir == "" {
		*dir = dataDir()
	}
	path := filepath.Join(*dir, name)
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, content) {
		return
	}
	if *check {
		fmt.Fprintf(os.Stderr, "%s is not up to date: run conformance/oracle/generate\n", path)
		os.Exit(1)
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		fatal(err)
	}
	fmt.Fprintf(os.Stderr, "wrote %s (%d bytes)\n", path, len(content))
}

// dataDir looks upwards for the workspace, so that the programs run from any folder in it.
func dataDir() string {
	dir, err := os.Getwd()
	if err != nil {
		fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "Cargo.lock")); err == nil {
			return filepath.Join(dir, "crates", "kubewright-apiserver", "data")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			fatal(fmt.Errorf("no Cargo.lock above the current folder: pass --data"))
		}
		dir = parent
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
