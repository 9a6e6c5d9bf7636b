package calls

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/api"
	"parley/api/wire"
	"parley/store/history"
)

// Bounds of what people keep with a call, in characters.
const (
	maxTag  = 40
	maxTags = 20
	maxNote = 2000
)

func (m *calls) mountKeep(a *api.API) {
	api.Register(a, routes.Patch("/v1/calls/{id}", "update-call", "Keep metadata, tags and a note with a call",
		"Changes what is kept with a call, of yours and not of the conversation's. What the request does not have stays as it is.", http.StatusNotFound), m.keep)
}

func (m *calls) keep(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"The call's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.CallChange
}) (*api.Reply[wire.CallSummary], error) {
	account := api.AccountOf(ctx)
	err := m.history.Keep(ctx, account, in.ID, func(k *history.Kept) error { return apply(&in.Body, k) })
	if err != nil {
		return nil, err
	}
	c, err := m.history.Call(ctx, account, in.ID)
	if err != nil {
		return nil, err
	}
	return api.Body(summary(c, m.db.Now())), nil
}

// apply makes a change, or refuses it.
func apply(c *wire.CallChange, k *history.Kept) error {
	metadata := c.Metadata.Apply(k.Metadata)
	if wrong := metadata.Check(); wrong != "" {
		return api.Bad("%s", wrong)
	}
	k.Metadata = metadata
	if c.Tags != nil {
		k.Tags = nil
		for _, tag := range *c.Tags {
			if tag = strings.TrimSpace(tag); !readable(tag) || tag == "" || utf8.RuneCountInString(tag) > maxTag {
				return api.Bad("tags: 1 to %d characters each, in one line", maxTag)
			}
			if !slices.Contains(k.Tags, tag) {
				k.Tags = append(k.Tags, tag)
			}
		}
		if len(k.Tags) > maxTags {
			return api.Bad("tags: %d at most", maxTags)
		}
	}
	if c.Note == nil {
		return nil
	}
	k.Note = nil
	switch note := strings.TrimSpace(*c.Note); {
	case utf8.RuneCountInString(note) > maxNote || strings.ContainsRune(note, 0):
		return api.Bad("note: text of %d characters at most", maxNote)
	case note != "":
		k.Note = &note
	}
	return nil
}

// readable says that a text is in one line.
func readable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}
