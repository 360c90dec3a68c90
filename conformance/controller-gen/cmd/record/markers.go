package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// generators are those that know markers.
var generators = []string{"crd", "rbac:roleName=any", "webhook", "object", "applyconfiguration", "schemapatch:manifests=."}

// tableOfMarkers has a line for each marker and target that the tool knows: name, target and arguments, each with
// its type and a question mark if it may be left out. It is empty if the tool does not tell.
func tableOfMarkers(tool string) string {
	var lines []string
	for _, generator := range generators {
		out, _ := exec.Command(tool, generator, "-wwww").Output()
		var categories []struct {
			Markers []struct {
				Name, Target string
				Fields       []struct {
					Name, Type string
					ItemType   *struct{ Type string }
					Optional   bool
				}
			}
		}
		if json.Unmarshal(out, &categories) != nil {
			continue
		}
		for _, category := range categories {
			for _, marker := range category.Markers {
				line := marker.Name + " " + marker.Target
				for _, field := range marker.Fields {
					optional := ""
					if field.Optional {
						optional = "?"
					}
					line += fmt.Sprintf(" %s:%s%s", field.Name, field.Type, optional)
				}
				lines = append(lines, line+"\n")
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}
