package dashboard

import (
	"slices"

	"parley/api"
	"parley/api/dashboard/page"
)

func playgroundPages() []page.Page {
	return []page.Page{
		{Route: "GET " + page.Home + "/playground", Serve: playgroundPage},
		{Route: "GET " + page.Home + "/playground/test-call/{id}", Serve: testCallPart},
	}
}

// playgroundView is the page from which one talks to agents.
type playgroundView struct {
	Agents    []agentName
	Chosen    string // the agent that the address names
	Transport string // and the transport
}

type agentName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// playgroundPage offers a hundred agents, and the one that its address names.
func playgroundPage(q *page.Request) error {
	found, err := page.Read[api.List[agentName]](q, "/v1/agents?limit=100")
	if err != nil {
		return err
	}
	query := q.R.URL.Query()
	v := playgroundView{Agents: found.Data, Chosen: query.Get("agent"), Transport: query.Get("transport")}
	if v.Chosen != "" && !slices.ContainsFunc(v.Agents, func(a agentName) bool { return a.ID == v.Chosen }) {
		var a agentName
		a, err = page.Read[agentName](q, page.Path("/v1/agents/", v.Chosen))
		v.Agents = append(v.Agents, a)
	}
	return q.Show("playground", "Playground")(v, err)
}

// testCallPart is a piece for other pages from which one talks to one agent.
func testCallPart(q *page.Request) error {
	a, err := page.Read[agentName](q, page.Path("/v1/agents/", q.ID("id")))
	return q.ShowPart("playground", "voice-test")(a.ID, err)
}

// Voices are the choices.
func (playgroundView) Voices() []page.Option { return page.VoiceOptions() }

// Languages are the choices.
func (playgroundView) Languages() []page.Option { return page.LanguageOptions() }

// Phases are those of the turn machine, as package turn calls them, in people's words.
func (playgroundView) Phases() []page.Option {
	return []page.Option{{Value: "connecting", Label: "Connecting"}, {Value: "listening", Label: "Listening"}, {Value: "user_speaking", Label: "You speak"},
		{Value: "pause", Label: "Pause: are you done?"}, {Value: "thinking", Label: "Thinking"}, {Value: "tool_wait", Label: "Waiting for a function"},
		{Value: "speaking", Label: "Agent speaks"}, {Value: "yielding", Label: "Interrupting"}, {Value: "closing", Label: "Saying goodbye"}, {Value: "over", Label: "Over"}}
}
