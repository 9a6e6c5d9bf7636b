package dashboard

import (
	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/wire"
)

const (
	nodesAt    = page.Home + "/nodes"
	nodesTitle = "Nodes"
)

// Node is one as the page shows it.
type Node wire.Node

// Tone is the colour of a node's state, and Word says it without one.
func (n Node) Tone() string {
	return map[string]string{"serving": "good", "draining": "warn", "silent": "bad"}[n.State]
}

// Word is the state.
func (n Node) Word() string {
	return map[string]string{"serving": "Serving", "draining": "Draining", "silent": "Silent"}[n.State]
}

func nodesPage(q *page.Request) error {
	found, err := page.Read[api.List[Node]](q, "/v1/operator/nodes")
	if err != nil {
		return err
	}
	return q.Page("nodes", nodesTitle, found.Data)
}
