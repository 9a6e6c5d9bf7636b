package wsagent

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
)

// Path is where agent sockets connect.
const Path = "/ws/agent"

// Mount adds the agent socket to an API.
func Mount(a *api.API, h *Handler) {
	a.Handle(api.Route{Access: api.Conversation, Scope: api.Conversations, Operation: huma.Operation{
		Method: http.MethodGet, Path: Path, OperationID: "talk-to-agent", Tags: []string{"Agents"},
		Summary: "Talk with an agent over a WebSocket",
		Description: "The client sends the caller's voice as binary frames (Int16 little endian, 16 kHz, mono) and JSON messages; " +
			"it receives the agent's voice (44.1 kHz) and JSON messages about the conversation. What is refused after the upgrade is " +
			"told by one error message and close code 1008.",
		Parameters: []*huma.Param{{Name: "agent_id", In: "query", Description: "The agent. Without it the client sends a prompt; a session ticket has its own.",
			Schema: &huma.Schema{Type: "string"}, Example: "ag_01"}},
		Responses: api.Answer(http.StatusSwitchingProtocols, "The conversation", ""),
		Errors:    []int{http.StatusBadRequest},
	}}, h)
}
