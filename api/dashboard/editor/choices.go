package editor

import (
	"encoding/json"
	"fmt"
	"slices"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store/knowledge"
)

// knowledgePath is the setting that names collections of documents, which are ticked and not typed.
const knowledgePath = "settings.knowledge_bases"

// successorsPath is the setting that names agents that take callers over, which are chosen and not typed.
const successorsPath = "settings.hand_over_to"

// soundPath is the setting that names a sound of the account, which is chosen and not typed.
const soundPath = "settings.hold_sound"

// choice is a value that may be ticked.
type choice struct {
	page.Option
	ID string // of its field on the page
}

// offerCollections has the account's collections of documents be ticked.
func (f *agentFields) offerCollections(q *page.Request) error {
	for _, x := range f.all {
		if x.path != knowledgePath {
			continue
		}
		list, err := page.Read[api.List[wire.KnowledgeBase]](q, fmt.Sprintf("/v1/knowledge?limit=%d", knowledge.MaxBases))
		if err != nil {
			return err
		}
		x.ticks = []page.Option{}
		for _, b := range list.Data {
			x.ticks = append(x.ticks, page.Option{Value: b.ID, Label: b.Name})
		}
	}
	return nil
}

// offerAgents has the account's other agents be chosen where an agent is named that takes callers over.
func (f *agentFields) offerAgents(q *page.Request) error {
	i := slices.IndexFunc(f.all, func(x *agentField) bool { return x.path == successorsPath })
	if i < 0 {
		return nil
	}
	names, err := q.DB.AgentNames(q.Context(), q.Account())
	if err != nil {
		return err
	}
	x := f.all[i]
	x.agents = []page.Option{{Value: "", Label: "Choose an agent"}}
	for _, a := range names {
		if a.ID != q.ID("id") {
			x.agents = append(x.agents, page.Option{Value: a.ID, Label: a.Name})
		}
	}
	return nil
}

// chooseAgent has a field offer agents, and the one that it names though it is no longer there.
func (x *agentField) chooseAgent(of *control) {
	of.How = "select"
	choices := withDeleted(slices.Clone(x.agents), of.Value)
	if len(choices) == 1 {
		of.Hint = "The account has no other agent yet."
	}
	of.Choose(choices)
}

// withDeleted adds the value that is chosen though it is no longer there.
func withDeleted(choices []page.Option, value string) []page.Option {
	if value != "" && !slices.ContainsFunc(choices, func(o page.Option) bool { return o.Value == value }) {
		choices = append(choices, page.Option{Value: value, Label: value + " (deleted)"})
	}
	return choices
}

// offerSounds has the account's sounds be chosen where one is named that callers hear.
func (f *agentFields) offerSounds(q *page.Request) error {
	i := slices.IndexFunc(f.all, func(x *agentField) bool { return x.path == soundPath })
	if i < 0 {
		return nil
	}
	list, err := page.Read[api.List[wire.Sound]](q, "/v1/sounds?limit=100")
	for _, s := range list.Data {
		f.all[i].Form.Choices = append(f.all[i].Form.Choices, [2]any{s.ID, s.Name})
	}
	return err
}

// tick ticks the values of a list.
func (f *agentForm) tick(x *agentField, raw json.RawMessage) {
	var list []string
	_ = json.Unmarshal(raw, &list) // nothing else is stored
	f.Values[x.Name] = list
}

// ticked are the values that are ticked.
func (f *agentForm) ticked(x *agentField) []string {
	return slices.DeleteFunc(slices.Clone(f.Values[x.Name]), func(v string) bool { return v == "" })
}

// sameTicks says whether the same values are ticked in another form, in whatever order.
func (f *agentForm) sameTicks(x *agentField, other *agentForm) bool {
	return slices.Equal(slices.Sorted(slices.Values(f.ticked(x))), slices.Sorted(slices.Values(other.ticked(x))))
}

// choices are the values that may be ticked, and those that are ticked and are no longer there.
func (f *agentForm) choices(x *agentField) []choice {
	ticked := f.ticked(x)
	all := slices.Clone(x.ticks)
	for _, v := range ticked {
		if !slices.ContainsFunc(all, func(o page.Option) bool { return o.Value == v }) {
			all = append(all, page.Option{Value: v, Label: v + " (deleted)"})
		}
	}
	out := make([]choice, len(all))
	for i, o := range all {
		o.Selected = slices.Contains(ticked, o.Value)
		out[i] = choice{o, fmt.Sprintf("%s_%d", x.Name, i)}
	}
	return out
}
