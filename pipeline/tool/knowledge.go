package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"parley/inference"
)

// SearchKnowledge is the function that searches the documents of an agent.
const SearchKnowledge = "search_knowledge"

// Passage is a part of a document that fits what was searched for.
type Passage struct {
	Title   string `json:"title"`  // of the document
	Source  string `json:"source"` // its file's name, or its address
	Page    int    `json:"page,omitempty"`
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text"`
}

// Bounds of a search in documents.
const (
	// knowledgeTime is for the search; the database answers within 30 ms.
	knowledgeTime = 3 * time.Second
	// maxPassage bounds the text of one of five passages, in bytes, so that MaxResult holds them all.
	maxPassage = 2400
	maxSource  = 200 // bytes
)

// Clipped is the passage within its bounds.
func (p Passage) Clipped() Passage {
	p.Title, p.Source, p.Heading, p.Text = Clip(p.Title, maxSource), Clip(p.Source, maxSource), Clip(p.Heading, maxSource), Clip(p.Text, maxPassage)
	return p
}

// Passages is the result of a search, as the model reads it.
func Passages(found []Passage) string {
	var out struct {
		Passages []Passage `json:"passages"`
		Note     string    `json:"note,omitempty"`
	}
	out.Passages = []Passage{} // and not null
	for _, p := range found {
		out.Passages = append(out.Passages, p.Clipped())
	}
	if len(found) == 0 {
		out.Note = "No document says anything about it. Try other words once; else say that you do not know."
	}
	text, _ := plainJSON(out) // texts can be written
	return string(text)
}

var knowledgeSpec = inference.Tool{
	Name: SearchKnowledge,
	Description: "Search the documents that you answer from, such as handbooks, price lists and pages of the website. Use it before you answer a question about facts that are not in your instructions, " +
		"and answer from what it finds.",
	Parameters: []byte(`{"type":"object","properties":{"query":{"type":"string","description":"The words to look for, in the language of the documents; a few nouns find more than a sentence.","minLength":1,"maxLength":400}},"required":["query"]}`),
}

// NewSearchKnowledge makes the function that searches documents by search, which may be called from several goroutines.
func NewSearchKnowledge(search func(ctx context.Context, query string) ([]Passage, error)) Function {
	return Function{Spec: knowledgeSpec, Timeout: knowledgeTime, Cancel: true, Run: func(ctx context.Context, arguments json.RawMessage) (string, error) {
		var ask struct {
			Query string `json:"query"`
		}
		if err := json.Unmarshal(arguments, &ask); err != nil || strings.TrimSpace(ask.Query) == "" {
			return "", errors.New("query is missing: what to search for")
		}
		found, err := search(ctx, ask.Query)
		if err != nil {
			return "", errors.New("the documents cannot be searched now")
		}
		return Passages(found), nil
	}}
}
