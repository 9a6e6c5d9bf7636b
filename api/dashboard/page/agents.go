package page

import "parley/store"

// AgentNames are those of the account's agents, by identifier and newest first.
func AgentNames(q *Request) (map[string]string, []store.AgentName, error) {
	agents, err := q.DB.AgentNames(q.Context(), q.Account())
	names := map[string]string{}
	for _, a := range agents {
		names[a.ID] = a.Name
	}
	return names, agents, err
}

// AgentOptions are agents to choose from.
func AgentOptions(agents []store.AgentName) []Option {
	out := make([]Option, len(agents))
	for i, a := range agents {
		out[i] = Option{Value: a.ID, Label: a.Name}
	}
	return out
}
