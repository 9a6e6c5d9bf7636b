// Package foreign makes agents of what other services export: assistants of Vapi, and agents of Retell with their language
// models. What has no equivalent here, or is only nearly the same, is named with its path; nothing is left out in silence.
package foreign

import (
	"errors"
	"fmt"
	"strings"

	"parley/api/wire"
)

// Services are those that agents can come from.
func Services() []string { return []string{"vapi", "retell"} }

// Document is a file that a service has exported.
type Document struct {
	Name string // for errors
	Text []byte // JSON
}

// Note says what of a document is not, or is otherwise, in the agent.
type Note struct {
	Path string `json:"path"` // in the document
	Text string `json:"text"`
}

func (n Note) String() string { return n.Path + ": " + n.Text }

// Agent is an agent that was made of documents.
type Agent struct {
	wire.AgentDefinition
	Notes []Note // in the order of their paths
	voice string // as the other service calls it; empty: it has none
}

// File is the agent as the file that is pushed, which says of whose voice its own took the place.
func (a *Agent) File() (string, error) {
	text, err := a.AgentDefinition.File()
	if err != nil || a.voice == "" {
		return text, err
	}
	line := "\nvoice: " + a.Voice
	return strings.Replace(text, line+"\n", line+" # it was "+a.voice+"\n", 1), nil
}

// Read makes an agent of what a service has exported: of Vapi an assistant, and the tools that it names; of Retell an agent
// and its language model. The agent is valid: what the server would refuse is left out, with a note. The error
// says what is wrong with the documents.
func Read(service string, documents []Document) (*Agent, error) {
	b := &builder{settings: map[string]any{}, variables: map[string]string{}}
	sources := make([]*source, len(documents))
	for i, d := range documents {
		s, err := open("", d.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		sources[i] = s
	}
	var err error
	switch service {
	case "vapi":
		err = b.vapi(sources)
	case "retell":
		err = b.retell(sources)
	default:
		err = errors.New("agents come from " + strings.Join(Services(), " and "))
	}
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		for _, path := range s.left() {
			b.note(path, "%s", b.reason(path))
		}
	}
	return b.agent()
}
