package webrtc

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	media "parley/media/webrtc"
)

const (
	typeSDP      = "application/sdp"
	typeFragment = "application/trickle-ice-sdpfrag"
)

// read reads an offer and which agent it is for.
func (h *Handler) read(r *http.Request) (o media.Offer, agent string, err error) {
	text, err := body(r, typeSDP)
	if err != nil {
		return o, "", err
	}
	if o, err = media.ParseOffer(text); err != nil {
		return o, "", api.Bad("%v", err)
	}
	agent = r.URL.Query().Get("agent_id")
	t := api.PrincipalOf(r.Context()).Ticket
	if agent == "" && (t == nil || t.Agent == "") && !o.Messages {
		return o, "", api.Bad("without agent_id the agent is described on a data channel, which the offer does not have")
	}
	return o, agent, nil
}

// options says what may be posted, and which servers help clients: those that want
// credentials are named in the answer to an offer (RFC 9725 sections 4.2 and 4.6).
func (h *Handler) options(header http.Header) {
	header.Set("Accept-Post", typeSDP)
	h.Relays.tellAll(header)
}

// body is a request's body, which must be of a type.
func body(r *http.Request, want string) (string, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != want {
		return "", api.Detail(api.ErrMediaType, "it must be "+want)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return "", api.ReadError(err)
	}
	return string(b), nil
}

// patched takes more candidates, or restarts ICE (RFC 9725 section 4.3).
func (h *Handler) patched(w http.ResponseWriter, r *http.Request) error {
	if h.forward(w, r) {
		return nil
	}
	ours, tag, err := h.patch(r)
	if err != nil {
		return err
	}
	if ours == "" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("ETag", etag(tag))
	w.Header().Set("Content-Type", typeFragment)
	_, _ = io.WriteString(w, ours)
	return nil
}

// patch changes a session. ours is our side of ICE after a restart, and empty otherwise.
func (h *Handler) patch(r *http.Request) (ours, tag string, err error) {
	text, err := body(r, typeFragment)
	if err != nil {
		return "", "", err
	}
	f, err := media.ParseFragment(text)
	if err != nil {
		return "", "", api.Bad("%v", err)
	}
	s, err := h.find(api.PrincipalOf(r.Context()), r.PathValue("id"))
	if err != nil {
		return "", "", err
	}
	match := strings.TrimSpace(r.Header.Get("If-Match"))
	switch match {
	case "":
		return "", "", api.ErrIfMatch
	case "*", `"*"`:
		ours, err = s.leg.Restart(r.Context(), f)
	default:
		err = s.leg.Trickle(strings.Trim(match, `"`), f)
	}
	switch {
	case errors.Is(err, media.ErrStale):
		return "", "", api.ErrStale
	case errors.Is(err, media.ErrOften):
		return "", "", api.Detail(api.ErrRateLimited, "ICE is restarted too often")
	case errors.Is(err, media.ErrGone):
		return "", "", api.Detail(api.ErrNotFound, "the session is over")
	case errors.Is(err, media.ErrOffer):
		return "", "", api.Bad("%v", err)
	case err != nil:
		return "", "", fmt.Errorf("change a WebRTC session: %w", err)
	}
	return ours, s.leg.Tag(), nil
}

// deleted ends a session.
func (h *Handler) deleted(w http.ResponseWriter, r *http.Request) error {
	if h.forward(w, r) {
		return nil
	}
	s, err := h.find(api.PrincipalOf(r.Context()), r.PathValue("id"))
	if err == nil {
		s.leg.Hangup()
		w.WriteHeader(http.StatusOK)
	}
	return err
}

// etag names an ICE session.
func etag(tag string) string { return `"` + tag + `"` }

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
	}}, api.HandlerFunc(h.offered))

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
	}}, api.HandlerFunc(h.patched))

	a.Handle(api.Route{Access: api.Conversation, Scope: api.Conversations, Operation: huma.Operation{
		Method: http.MethodDelete, Path: Path + "/{id}", OperationID: "end-webrtc-session", Tags: []string{"Agents"},
		Summary: "End a session", Description: "Hangs up.",
		Parameters: []*huma.Param{id},
		Responses:  map[string]*huma.Response{"200": {Description: "The session has ended."}},
		Errors:     []int{http.StatusForbidden, http.StatusNotFound},
	}}, api.HandlerFunc(h.deleted))
}
