package webrtc

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

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
func (h *Handler) patched(w http.ResponseWriter, r *http.Request) {
	ours, tag, err := h.patch(r)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	if ours == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("ETag", etag(tag))
	w.Header().Set("Content-Type", typeFragment)
	_, _ = io.WriteString(w, ours)
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
func (h *Handler) deleted(w http.ResponseWriter, r *http.Request) {
	s, err := h.find(api.PrincipalOf(r.Context()), r.PathValue("id"))
	if err != nil {
		api.WriteError(w, err)
		return
	}
	s.leg.Hangup()
	w.WriteHeader(http.StatusOK)
}

// etag names an ICE session.
func etag(tag string) string { return `"` + tag + `"` }
