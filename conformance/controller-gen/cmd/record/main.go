// Command record runs controller-gen on each case and keeps what it wrote beside the case.
//
// A case is a folder of cases/ with Go packages and a case.json. Each of its runs has a folder in expected/: the files
// that were written, and errors.txt with what was reported if the run failed. A run whose result is random has a folder
// for each result that was seen, numbered in their byte order. With --check nothing is written, and what differs from
// the recorded files is an error.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// testCase is the content of case.json.
type testCase struct {
	// About says what the case shows.
	About string `json:"about"`
	// Runs are the arguments by the name of the run. They are about all packages of the case unless they say which.
	Runs map[string][]string `json:"runs"`
	// Repeat is how often each run is repeated to see its random results; once by default.
	Repeat int `json:"repeat"`
}

// files are contents by path.
type files map[string]string

func main() {
	check := flag.Bool("check", false, "only compare with what is recorded")
	flag.Parse()
	if err := run(*check, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(check bool, names []string) error {
	tool := os.Getenv("CONTROLLER_GEN")
	if tool == "" {
		return errors.New("CONTROLLER_GEN does not name the program; start this with ./record")
	}
	if len(names) == 0 {
		if err := record("markers.txt", tableOfMarkers(tool), check); err != nil {
			return err
		}
		found, err := filepath.Glob("cases/*/case.json")
		if err != nil {
			return err
		}
		for _, path := range found {
			names = append(names, filepath.Base(filepath.Dir(path)))
		}
	}
	var failed []error
	for _, name := range names {
		dir := filepath.Join("cases", name)
		recorded, err := runCase(tool, dir)
		if err == nil && check {
			err = compareAll(dir, recorded)
		} else if err == nil {
			err = keepAll(dir, recorded)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

// results are those of one run of a case: one, or all that were seen if it is random.
type results struct {
	random bool
	seen   []files
}

// runCase gives the results by the name of the run.
func runCase(tool, dir string) (map[string]results, error) {
	text, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return nil, err
	}
	var c testCase
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return nil, err
	}
	all := map[string]results{}
	for name, arguments := range c.Runs {
		seen := map[string]files{}
		for range max(c.Repeat, 1) {
			result, err := generate(tool, dir, arguments)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			seen[fmt.Sprint(result)] = result
		}
		sorted := make([]files, 0, len(seen))
		for _, key := range slices.Sorted(maps.Keys(seen)) {
			sorted = append(sorted, seen[key])
		}
		all[name] = results{random: c.Repeat > 1, seen: sorted}
	}
	return all, nil
}

// generate runs the tool once and gives what it wrote.
func generate(tool, dir string, arguments []string) (files, error) {
	out, err := os.MkdirTemp("", "controller-gen")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var report bytes.Buffer
	arguments = append(slices.Clone(arguments), "output:dir="+out)
	if !slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "paths=") }) {
		arguments = append(arguments, "paths=./...")
	}
	command := exec.Command(tool, arguments...)
	command.Dir = dir
	command.Stderr = &report
	result := files{}
	var exit *exec.ExitError
	if err := command.Run(); errors.As(err, &exit) {
		result["errors.txt"] = reported(report.String(), absolute)
	} else if err != nil {
		return nil, err
	}
	return result, read(out, result)
}

// longestLine is how much of a reported line is kept: some have whole values of Go in them.
const longestLine = 200

// reported are the errors without the folder of this machine, without how to call the tool, and without what follows
// a panic.
func reported(text, dir string) string {
	text, _, _ = strings.Cut(text, "run `controller-gen")
	if at := strings.Index(text, "\ngoroutine "); at >= 0 {
		text = text[:at+1]
	}
	lines := strings.SplitAfter(strings.ReplaceAll(text, dir+"/", ""), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Usage:") })
	for i, line := range lines {
		if len(line) > longestLine {
			lines[i] = line[:longestLine] + "...\n"
		}
	}
	return strings.Join(lines, "")
}

// read adds the files of a folder.
func read(dir string, to files) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		to[name] = string(content)
		return err
	})
}

// keepAll makes the case's folder expected/ hold these results and nothing else.
func keepAll(dir string, all map[string]results) error {
	expected := filepath.Join(dir, "expected")
	if err := os.RemoveAll(expected); err != nil {
		return err
	}
	for name, run := range all {
		for i, result := range run.seen {
			folder := filepath.Join(expected, name)
			if run.random {
				folder = filepath.Join(folder, fmt.Sprint(i+1))
			}
			for path, content := range result {
				if err := record(filepath.Join(folder, path), content, false); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// compareAll fails if a result is none of the recorded ones.
func compareAll(dir string, all map[string]results) error {
	var differ []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		folder := filepath.Join(dir, "expected", name)
		recorded := []string{folder}
		if all[name].random {
			var err error
			if recorded, err = filepath.Glob(filepath.Join(folder, "*")); err != nil {
				return err
			}
		}
		known := map[string]bool{}
		for _, folder := range recorded {
			present := files{}
			if err := read(folder, present); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			known[fmt.Sprint(present)] = true
		}
		for _, result := range all[name].seen {
			if !known[fmt.Sprint(result)] {
				differ = append(differ, fmt.Errorf("the result of %s is not what was recorded", name))
			}
		}
	}
	return errors.Join(differ...)
}

func record(path, content string, check bool) error {
	if check {
		present, err := os.ReadFile(path)
		if err == nil && string(present) != content {
			err = fmt.Errorf("%s is not what was recorded", path)
		}
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}
