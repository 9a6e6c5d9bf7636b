package editor

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

// metadataField is the field with what is kept with an agent, a name and its value in each line.
const metadataField = "metadata"

// metadataForm shows what is kept with an agent.
func metadataForm(m wire.Metadata) *page.Form {
	lines := make([]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, name+" = "+lineOf(m[name]))
	}
	return page.NewForm(metadataField, strings.Join(lines, "\n"))
}

// lineOf is a value as it stands in a line: one that would not come back the same, such as one of several lines,
// as JSON has it.
func lineOf(value string) string {
	if value == strings.TrimSpace(value) && !strings.ContainsAny(value, "\r\n") && !strings.HasPrefix(value, `"`) {
		return value
	}
	text, _ := json.Marshal(value) // a text can be written
	return string(text)
}

// enteredMetadata reads the lines of the form as the change that makes was what they say. A line without a value is a
// mistake in the form.
func enteredMetadata(f *page.Form, was wire.Metadata) wire.MetadataChange {
	change := wire.MetadataChange{}
	for name := range was {
		change[name] = nil
	}
	number := 0
	for line := range strings.SplitSeq(unix(f.Values.Get(metadataField)), "\n") {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			f.Fail(metadataField, fmt.Sprintf("Line %d: write a name and its value, such as team = sales.", number))
			continue
		}
		if strings.HasPrefix(value, `"`) {
			_ = json.Unmarshal([]byte(value), &value) // what is no JSON stays as it is
		}
		change[name] = &value
	}
	return change
}

func setAgentMetadata(q *page.Request) error {
	v, err := agentEdited(q)
	if err != nil {
		return err
	}
	f, err := q.Form()
	if err != nil {
		return err
	}
	change := map[string]any{metadataField: enteredMetadata(f, v.Agent.Metadata)}
	done, err := q.Submit(f, http.MethodPatch, page.Path("/v1/agents/", v.ID), change, nil, func() error {
		v.Metadata = f
		return q.Invalid("agent", "metadata-form", v.Title, v)
	})
	if !done {
		return err
	}
	return q.Done(page.Path(At+"/", v.ID), "The metadata were saved.")
}
