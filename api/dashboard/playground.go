package dashboard

import (
	"slices"

	"parley/api"
)

func playgroundPages() []page {
	return []page{
		{route: "GET " + home + "/playground", serve: playgroundPage},
		{route: "GET " + home + "/playground/test-call/{id}", serve: testCallPart},
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
func playgroundPage(q *Request) error {
	found, err := read[api.List[agentName]](q, "/v1/agents?limit=100")
	if err != nil {
		return err
	}
	query := q.R.URL.Query()
	v := playgroundView{Agents: found.Data, Chosen: query.Get("agent"), Transport: query.Get("transport")}
	if v.Chosen != "" && !slices.ContainsFunc(v.Agents, func(a agentName) bool { return a.ID == v.Chosen }) {
		var a agentName
		a, err = read[agentName](q, Path("/v1/agents/", v.Chosen))
		v.Agents = append(v.Agents, a)
	}
	return q.Show("playground", "Playground")(v, err)
}

// testCallPart is a piece for other pages from which one talks to one agent.
func testCallPart(q *Request) error {
	a, err := read[agentName](q, Path("/v1/agents/", q.ID("id")))
	return q.ShowPart("playground", "voice-test")(a.ID, err)
}

// Voices are the choices.
func (playgroundView) Voices() []Option { return voiceOptions() }

// Languages are the choices.
func (playgroundView) Languages() []Option { return languageOptions() }

// Phases are those of the turn machine, as package turn calls them, in people's words.
func (playgroundView) Phases() []Option {
	return []Option{{Value: "connecting", Label: "Connecting"}, {Value: "listening", Label: "Listening"}, {Value: "user_speaking", Label: "You speak"},
		{Value: "pause", Label: "Pause: are you done?"}, {Value: "thinking", Label: "Thinking"}, {Value: "tool_wait", Label: "Waiting for a function"},
		{Value: "speaking", Label: "Agent speaks"}, {Value: "yielding", Label: "You speak over it"}, {Value: "closing", Label: "Saying goodbye"}, {Value: "over", Label: "Over"}}
}
