package conversation

import (
	"testing"

	"parley/api/starter"
)

// TestTemplatesAreAgents: the API takes each template as it is.
func TestTemplatesAreAgents(t *testing.T) {
	t.Parallel()
	for _, one := range starter.Templates() {
		document, err := one.Document()
		if err != nil {
			t.Errorf("%s: %v", one.Name, err)
			continue
		}
		a, wrong, err := Definition(nil, nil).Draft(document)
		if err != nil || len(wrong) > 0 || a.Prompt == "" {
			t.Errorf("%s: %+v %v", one.Name, wrong, err)
		}
	}
}
