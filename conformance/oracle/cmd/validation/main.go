// Command validation writes what a running kube-apiserver says to objects of built-in kinds that are wrong: for each
// NAME.yaml of crates/kubewright-apiserver/tests/data/validation the file NAME.answers.json. Names limit it to those.
//
// A file is a list of requests. Each has an object, or updates what is there, and edits of it: JSON pointers with the
// values to put there, null to take away what is there. Each edit is sent on its own. What has to be there before is in
// "setup".
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubewright/kubewright/conformance/oracle/internal/output"
	"github.com/kubewright/kubewright/conformance/oracle/internal/server"
)

const folder = "crates/kubewright-apiserver/tests/data/validation/"

type section struct {
	Setup []struct {
		Request string `json:"request"`
		Body    any    `json:"body"`
	} `json:"setup"`
	Request string           `json:"request"`
	Object  any              `json:"object"`
	Edits   []map[string]any `json:"edits"`
}

type answer struct {
	Code     int         `json:"code"`
	Reason   *string     `json:"reason,omitempty"`
	Causes   [][3]string `json:"causes,omitempty"`
	Message  string      `json:"message,omitempty"`
	Warnings []string    `json:"warnings,omitempty"`
}

var (
	uids     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	warnings = regexp.MustCompile(`^299 - "(.*)"$`)
)

func main() {
	flag.Parse()
	if err := record(context.Background(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func record(ctx context.Context, names []string) error {
	root, err := output.Workspace()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if len(names) > 0 && !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			continue
		}
		content, err := answers(ctx, file)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		output.Write(folder+name+".answers.json", content)
	}
	return nil
}

// answers asks a server of its own, so that no file depends on another.
func answers(ctx context.Context, file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	content, err = yaml.YAMLToJSON(content)
	if err != nil {
		return nil, err
	}
	var sections []section
	if err := decode(content, &sections); err != nil {
		return nil, err
	}
	s, err := server.Launch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Stop()
	var b bytes.Buffer
	for i, section := range sections {
		b.WriteString([]string{"[\n[\n", ",\n[\n"}[min(i, 1)])
		if err := ask(ctx, s, section, &b); err != nil {
			return nil, fmt.Errorf("%s: %w", section.Request, err)
		}
		b.WriteString("\n]")
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

func ask(ctx context.Context, s *server.Server, section section, b *bytes.Buffer) error {
	for _, setup := range section.Setup {
		code, _, body, err := send(ctx, s, setup.Request, setup.Body)
		if err != nil || code >= 300 {
			return fmt.Errorf("%s answered %d: %s %w", setup.Request, code, body, err)
		}
	}
	object, err := json.Marshal(section.Object)
	if err != nil {
		return err
	}
	if path, ok := strings.CutPrefix(section.Request, "PUT "); ok {
		path, _, _ = strings.Cut(path, "?")
		if _, _, object, err = send(ctx, s, "GET "+path, nil); err != nil {
			return err
		}
	}
	for i, edits := range section.Edits {
		var edited any
		if err := decode(object, &edited); err != nil {
			return err
		}
		pointers := make([]string, 0, len(edits))
		for pointer := range edits {
			pointers = append(pointers, pointer)
		}
		sort.Strings(pointers)
		for _, pointer := range pointers {
			edited = edit(edited, strings.Split(pointer, "/")[1:], edits[pointer])
		}
		code, header, body, err := send(ctx, s, section.Request, edited)
		if err != nil {
			return err
		}
		line, err := encode(read(code, header, body))
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		b.Write(line)
	}
	return nil
}

// edit gives the value with another one at the path in it.
func edit(value any, path []string, new any) any {
	if len(path) == 0 {
		return new
	}
	name := strings.ReplaceAll(path[0], "~1", "/")
	if list, ok := value.([]any); ok {
		index, err := strconv.Atoi(name)
		switch {
		case err != nil || index > len(list):
			panic("no such item: " + name)
		case index == len(list):
			return append(list, edit(nil, path[1:], new))
		case len(path) == 1 && new == nil:
			return append(list[:index], list[index+1:]...)
		}
		list[index] = edit(list[index], path[1:], new)
		return list
	}
	fields, ok := value.(map[string]any)
	if !ok {
		fields = map[string]any{}
	}
	if fields[name] = edit(fields[name], path[1:], new); fields[name] == nil {
		delete(fields, name)
	}
	return fields
}

func send(ctx context.Context, s *server.Server, request string, body any) (int, http.Header, []byte, error) {
	method, path, _ := strings.Cut(request, " ")
	media := "application/json"
	if method == http.MethodPatch {
		media = "application/strategic-merge-patch+json"
	}
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return 0, nil, nil, err
		}
	}
	return s.Exchange(ctx, method, path, http.Header{"Content-Type": {media}}, content)
}

// read keeps of an answer what does not differ from run to run. Of a message that goes on with a diff of Go structs the
// first line is kept.
func read(code int, header http.Header, body []byte) answer {
	a := answer{Code: code}
	for _, value := range header.Values("Warning") {
		if match := warnings.FindStringSubmatch(value); match != nil {
			a.Warnings = append(a.Warnings, strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(match[1]))
		}
	}
	if code < 300 {
		return a
	}
	var status struct {
		Reason, Message string
		Details         struct {
			Causes []struct{ Field, Reason, Message string }
		}
	}
	if err := json.Unmarshal(uids.ReplaceAll(body, []byte("$$uid")), &status); err != nil {
		a.Message = string(body)
		return a
	}
	a.Reason = &status.Reason
	for _, cause := range status.Details.Causes {
		message, _, _ := strings.Cut(cause.Message, "\n")
		a.Causes = append(a.Causes, [3]string{cause.Field, cause.Reason, message})
	}
	// What Go takes from a map comes in any order.
	sort.Slice(a.Causes, func(i, j int) bool { return fmt.Sprint(a.Causes[i]) < fmt.Sprint(a.Causes[j]) })
	if len(a.Causes) == 0 {
		a.Message = status.Message
	}
	return a
}

func decode(content []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}
