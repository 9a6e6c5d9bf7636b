package apitest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"parley/api/apitest"
)

// TestListsPage: whoever asks under /v1 for a list can read it in pages, all in the same way.
func TestListsPage(t *testing.T) {
	// Lists that are answered whole, and why that stays possible.
	whole := map[string]string{
		"/v1/calls/{id}/events":      "the log of one call: it is kept as one document of bounded size, and sent as it happens while the call lasts",
		"/v1/calls/{id}/completions": "the questions to the model of one call: at most 1,000, and about 1 MB",
		"/v1/calls/{id}/sip":         "the signalling of one call: at most 200 messages, which are kept as one document",
		"/v1/latency/engines":        "the engines of a server are the few that its settings name, and all of them stand beside each other",
		"/v1/usage/engines":          "the engines of a server are the few that its settings name, each with the few units that its vendor counts",
		"/v1/operator/usage/engines": "likewise",
		"/v1/operator/nodes":         "the nodes of a server are few, and all of them stand beside each other",
		"/v1/operator/checks":        "what the program checks is fixed, and all of it is looked at for each answer",
	}
	found := 0
	for path, item := range apitest.Published(t).Paths.Map() {
		if !strings.HasPrefix(path, "/v1/") || item.Get == nil || !isList(item.Get) {
			continue
		}
		found++
		missing := notPaged(item)
		if whole[path] != "" {
			if len(missing) == 0 {
				t.Errorf("%s pages: it is no exception", path)
			}
			delete(whole, path)
			continue
		}
		if len(missing) > 0 {
			t.Errorf("%s is a list without %s", path, strings.Join(missing, ", "))
		}
	}
	if found < 15 {
		t.Errorf("found %d lists", found)
	}
	for path := range whole {
		t.Errorf("%s is no list", path)
	}
}

// body is the schema of an operation's answer in JSON; nil: it has none.
func body(o *openapi3.Operation) *openapi3.Schema {
	answer := o.Responses.Status(http.StatusOK)
	if answer == nil || answer.Value == nil || answer.Value.Content["application/json"] == nil {
		return nil
	}
	return answer.Value.Content["application/json"].Schema.Value
}

// isList says whether an operation answers with a collection: by its name, or with an array
// that is the answer or its data. Other arrays are parts of one thing.
func isList(o *openapi3.Operation) bool {
	if strings.HasPrefix(o.OperationID, "list-") {
		return true
	}
	s := body(o)
	return s != nil && (s.Type.Includes("array") || s.Properties["data"] != nil && s.Properties["data"].Value.Type.Includes("array"))
}

// notPaged is what a list lacks of what all lists have.
func notPaged(item *openapi3.PathItem) (missing []string) {
	for _, name := range []string{"limit", "cursor"} {
		if item.Get.Parameters.GetByInAndName("query", name) == nil {
			missing = append(missing, "the parameter "+name)
		}
	}
	s := body(item.Get)
	if s == nil {
		return append(missing, "a body")
	}
	for _, name := range []string{"data", "has_more", "next_cursor"} {
		if s.Properties[name] == nil {
			missing = append(missing, "the field "+name)
		}
	}
	return missing
}
