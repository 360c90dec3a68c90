// Package output writes generated data into the API server's crate, or checks what is there.
package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

var check = flag.Bool("check", false, "change nothing; exit 1 if the file is not up to date")

// Data is the folder of the API server's tables, in the workspace.
const Data = "crates/kubewright-apiserver/data/"

// Write puts content into a file of the workspace, if it differs. With --check it changes nothing
// and ends the program with exit code 1 if it would have.
func Write(name string, content []byte) {
	if !flag.Parsed() {
		flag.Parse()
	}
	path := filepath.Join(workspace(), filepath.FromSlash(name))
	old, err := os.ReadFile(path)
	if err == nil && bytes.Equal(old, content) {
		return
	}
	if *check {
		fmt.Fprintf(os.Stderr, "%s is not up to date: run conformance/oracle/generate\n", name)
		os.Exit(1)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		fatal(err)
	}
	fmt.Fprintf(os.Stderr, "wrote %s (%d bytes)\n", name, len(content))
}

func workspace() string {
	root, err := Workspace()
	if err != nil {
		fatal(err)
	}
	return root
}

// Lines is a JSON array with one item a line, so that a change of one item is a change of one line.
func Lines[T any](items []T) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, item := range items {
		line, err := json.Marshal(item)
		if err != nil {
			return nil, err
		}
		b.Write(line)
		if i < len(items)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	return b.Bytes(), nil
}

// LinesByName is a JSON object with one member a line, sorted by name.
func LinesByName[T any](members map[string]T) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\n")
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b.WriteString(",\n")
		}
		line, err := json.Marshal(members[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", name, line)
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

// Workspace is the root of the Cargo workspace around the current folder.
func Workspace() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "Cargo.lock")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no Cargo.lock above the current folder: run this inside the workspace")
		}
		dir = parent
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
