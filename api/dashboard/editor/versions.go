package editor

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

// versionsView are an agent's versions.
type versionsView struct {
	Agent    *wire.AgentDefinition
	Versions []wire.AgentDefinition
	More     string
}

// Tabs says which page is open.
func (v versionsView) Tabs(tab string) agentTabs { return agentTabs{v.Agent.ID, tab} }

func listVersions(q *page.Request) error {
	a, err := agent(q)
	if err != nil {
		return err
	}
	found, older, err := page.Listed[wire.AgentDefinition](q, page.Path("/v1/agents/", a.ID, "/versions"), page.Path(At+"/", a.ID, "/versions"), "before", "20", nil)
	return q.Show("agent-versions", "Versions of "+a.Name)(versionsView{a, found, older}, err)
}

// versionView is one version, compared with another.
type versionView struct {
	Agent   *wire.AgentDefinition
	Was     wire.AgentDefinition
	Against int64 // 0: a new agent
	Changes []shownChange
	Text    string // the whole of it
}

// shownChange is a change as it is shown: line by line.
type shownChange struct {
	Path  string
	Label string // of its field; empty: it has none
	Lines []diffLine
}

// agentAndVersion reads the agent of the path and the version of it.
func agentAndVersion(q *page.Request) (a *wire.AgentDefinition, was wire.AgentDefinition, err error) {
	if a, err = agent(q); err == nil {
		was, err = page.Read[wire.AgentDefinition](q, page.Path("/v1/agents/", a.ID, "/versions/", q.ID("version")))
	}
	return a, was, err
}

func versionPage(q *page.Request) error {
	a, was, err := agentAndVersion(q)
	if err != nil {
		return err
	}
	against, err := against(q)
	if err != nil {
		return err
	}
	d, err := difference(q, a.ID, against, was.Version)
	if err != nil {
		return err
	}
	changes, err := shown(q, d.Changes)
	if err != nil {
		return err
	}
	text, err := was.File()
	return q.Show("agent-version", fmt.Sprintf("%s, version %d", a.Name, was.Version))(versionView{a, was, d.From, changes, text}, err)
}

// against is the version that another is compared with; 0: the one before.
func against(q *page.Request) (int64, error) {
	text := q.R.URL.Query().Get("against")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, api.ErrNotFound
	}
	return n, nil
}

func restoreVersion(q *page.Request) error {
	a, was, err := agentAndVersion(q)
	if err != nil {
		return err
	}
	saved, err := put(q, a.ID, a.Version, was)
	if err != nil {
		return err
	}
	if saved.Version == a.Version {
		return q.Done(page.Path(At+"/", a.ID), fmt.Sprintf("%s is the same as in version %d. Nothing was changed.", saved.Name, was.Version))
	}
	return q.Done(page.Path(At+"/", a.ID), fmt.Sprintf("%s is again what it was in version %d. That is version %d now.", saved.Name, was.Version, saved.Version))
}

// shown are changes as they are shown.
func shown(q *page.Request, changes []wire.Change) ([]shownChange, error) {
	fields, err := newAgentFields(q)
	if err != nil {
		return nil, err
	}
	out := make([]shownChange, len(changes))
	for i, c := range changes {
		out[i] = shownChange{Path: c.Path, Lines: diffLines(lines(c.Before), lines(c.After))}
		if x, _ := fields.at(c.Path); x != nil {
			out[i].Label = x.Title
		}
	}
	return out, nil
}

// lines are a value of a document as it is compared: of a text its own.
func lines(v any) []string {
	text, ok := v.(string)
	if v == nil || ok && text == "" {
		return nil
	}
	if !ok {
		raw, err := json.Marshal(v)
		if err == nil {
			text, err = wire.YAML(raw)
		}
		if err != nil {
			text = fmt.Sprint(v)
		}
	}
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// diffLine is a line of a comparison.
type diffLine struct {
	Kind string // same, added, removed or gap
	Text string
}

// maxDiff bounds the lines that are compared one with another; beyond, all are shown.
const maxDiff = 1500

// diffLines compares two texts by their longest common subsequence. Of long stretches
// that are the same three lines stay at each end.
func diffLines(a, b []string) []diffLine {
	var out []diffLine
	add := func(kind string, list ...string) {
		for _, l := range list {
			out = append(out, diffLine{kind, l})
		}
	}
	if len(a) > maxDiff || len(b) > maxDiff {
		add("removed", a...)
		add("added", b...)
		return out
	}
	// common[i][j] is how much a[i:] and b[j:] share.
	common := make([][]int16, len(a)+1)
	for i := range common {
		common[i] = make([]int16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			add("same", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			add("removed", a[i])
			i++
		default:
			add("added", b[j])
			j++
		}
	}
	return shorten(out)
}

// shorten leaves out what is far from every change.
func shorten(all []diffLine) []diffLine {
	const around = 3
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Kind == "same" {
			continue
		}
		for k := max(0, i-around); k <= min(len(all)-1, i+around); k++ {
			near[k] = true
		}
	}
	var out []diffLine
	for i, l := range all {
		if near[i] {
			out = append(out, l)
		} else if i == 0 || near[i-1] {
			out = append(out, diffLine{"gap", "…"})
		}
	}
	return out
}
