package node

import (
	"encoding/json"
	"errors"

	"parley/api"
	"parley/api/manage"
	"parley/api/talk"
	"parley/pipeline/agent"
	"parley/pipeline/schema"
	"parley/pipeline/tool"
	"parley/store"
)

// definition is how the API reads agents, which may name the engines that are offered and
// the addresses that guard allows; nil: any.
func definition(engines map[agent.Stage][]string, guard *tool.Guard) manage.Definition {
	text, _ := json.Marshal(agent.Schema) // a value of ours
	names := agent.Names{Voice: talk.Voice, Language: talk.Language, Engines: engines, Guard: guard}
	return manage.Definition{New: agent.New, Schema: text, Apply: func(a *store.Agent, document json.RawMessage) error {
		return mistaken(names.Apply(a, document, false))
	}}
}

// mistaken gives mistakes in a document their place in the error table: voices and
// languages have codes of their own when nothing else is wrong.
func mistaken(err error) error {
	wrong, ok := errors.AsType[schema.Mistakes](err)
	if !ok {
		return err
	}
	why := api.ErrBadRequest
	if len(wrong) == 1 {
		switch wrong[0].Path {
		case "voice":
			why = api.ErrVoice
		case "language":
			why = api.ErrLanguage
		}
	}
	each := make([]manage.Mistake, len(wrong))
	for i, m := range wrong {
		each[i] = manage.Mistake{Path: m.Path, Problem: m.Problem}
	}
	return &manage.Mistaken{Refusal: api.Detail(why, wrong.Error()), Mistakes: each}
}
