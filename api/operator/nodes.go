package operator

import (
	"context"

	"parley/api"
	"parley/api/wire"
	"parley/store"
)

type nodeList struct {
	Data []wire.Node `json:"data" doc:"By name." nullable:"false"`
}

// mountNodes adds the route of the nodes on a database.
func mountNodes(a *api.API, db *store.DB) {
	api.Register(a, routes.Get("/v1/operator/nodes", "list-nodes", "List the server's nodes",
		"The processes that share the database, as it knows them, whichever of them is asked: those that live, and those that have been silent for up to a week. One that was stopped in good order is not among them. "+
			"Times are by the database's clock."),
		func(ctx context.Context, _ *struct{}) (*api.Reply[nodeList], error) {
			found, err := db.Nodes(ctx)
			out := nodeList{Data: make([]wire.Node, len(found))}
			for i := range found {
				out.Data[i] = NodeView(&found[i])
			}
			return api.Body(out), err
		})
}

// NodeView is a node as operators are shown it.
func NodeView(n *store.SeenNode) wire.Node {
	v := wire.Node{Name: n.ID, Address: n.Advertised, Version: n.Version, State: string(n.State), StartedAt: n.StartedAt, HeartbeatAt: n.HeartbeatAt, Calls: n.Calls}
	if n.State == store.NodeSilent {
		v.SilentSince = &n.HeartbeatAt
	}
	return v
}
