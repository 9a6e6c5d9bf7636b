package webrtc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	media "parley/media/webrtc"
)

// Path is where sessions begin.
const Path = "/webrtc/agent"

// Mount adds the sessions to an API.
func Mount(a *api.API, h *Handler) {
	text := func(kind, what string) *huma.RequestBody {
		return &huma.RequestBody{Required: true, Description: what, Content: map[string]*huma.MediaType{kind: {Schema: &huma.Schema{Type: "string"}}}}
	}
	header := func(what string) *huma.Param {
		return &huma.Param{Description: what, Schema: &huma.Schema{Type: "string"}}
	}
	id := &huma.Param{Name: "id", In: "path", Required: true, Description: "The session, as Location has it.", Schema: &huma.Schema{Type: "string"}, Example: "rtc_01"}

	created := api.Answer(http.StatusCreated, "The answer", typeSDP)
	created["201"].Headers = map[string]*huma.Param{
		"Location": header("The session: PATCH and DELETE it there."),
		"ETag":     header("The ICE session, for If-Match."),
		"Link":     header("A STUN or TURN server to use, with its credentials; one header for each."),
	}
	a.Handle(api.Route{Access: api.Conversation, Scope: api.Conversations, Options: h.options, Operation: huma.Operation{
		Method: http.MethodPost, Path: Path, OperationID: "talk-to-agent-webrtc", Tags: []string{"Agents"}, MaxBodyBytes: media.MaxOffer,
		Summary: "Talk with an agent over WebRTC",
		Description: "Takes an SDP offer and answers with ours, as WHIP does (RFC 9725). Sound passes as Opus both ways; the data channel " +
			"events carries the JSON messages of the agent socket, without audio. The session is charged from its connection on.",
		Parameters: []*huma.Param{{Name: "agent_id", In: "query", Description: "The agent. Without it the client sends a prompt on the data channel; a session ticket has its own.",
			Schema: &huma.Schema{Type: "string"}, Example: "ag_01"}},
		RequestBody: text(typeSDP, "The offer: one section for audio with Opus, and one for the data channel."),
		Responses:   created,
		Errors:      []int{http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound},
	}}, http.HandlerFunc(h.offered))

	patched := api.Answer(http.StatusOK, "ICE was restarted: our side of it", typeFragment)
	patched["200"].Headers = map[string]*huma.Param{"ETag": header("The new ICE session.")}
	patched["204"] = &huma.Response{Description: "The candidates were taken."}
	a.Handle(api.Route{Access: api.Conversation, Scope: api.Conversations, Options: func(h http.Header) { h.Set("Accept-Patch", typeFragment) }, Operation: huma.Operation{
		Method: http.MethodPatch, Path: Path + "/{id}", OperationID: "change-webrtc-session", Tags: []string{"Agents"}, MaxBodyBytes: media.MaxOffer,
		Summary:     "Add candidates, or restart ICE",
		Description: "With the ETag of the ICE session in If-Match: more candidates of the client. With If-Match: \"*\": a restart, with new ice-ufrag and ice-pwd.",
		Parameters: []*huma.Param{id, {Name: "If-Match", In: "header", Description: "The ETag of the ICE session, or \"*\" to restart.",
			Schema: &huma.Schema{Type: "string"}}},
		RequestBody: text(typeFragment, "The fragment (RFC 8840)."),
		Responses:   patched,
		Errors:      []int{http.StatusForbidden, http.StatusNotFound, http.StatusPreconditionFailed, http.StatusPreconditionRequired},
	}}, http.HandlerFunc(h.patched))

	a.Handle(api.Route{Access: api.Conversation, Scope: api.Conversations, Operation: huma.Operation{
		Method: http.MethodDelete, Path: Path + "/{id}", OperationID: "end-webrtc-session", Tags: []string{"Agents"},
		Summary: "End a session", Description: "Hangs up.",
		Parameters: []*huma.Param{id},
		Responses:  map[string]*huma.Response{"200": {Description: "The session has ended."}},
		Errors:     []int{http.StatusForbidden, http.StatusNotFound},
	}}, http.HandlerFunc(h.deleted))
}
