package realtimetest

import (
	"fmt"
	"net/url"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

const sessionUpdate = "session.update"

// session is one session of transcription.
type session struct {
	*input
	id    string
	begun time.Time
}

// serveTranscription serves one session until it ends.
func serveTranscription(s *server, k *loopbacktest.Socket, _ url.Values) {
	c := &session{id: s.id("sess_"), begun: time.Now()}
	c.input = newInput(s, k, initial(false), c)
	c.send(map[string]any{"type": "session.created", "session": c.object()})
	s.listen(k, c.events, c.obey)
}

// object is the session as the server describes it.
func (c *session) object() map[string]any {
	set := &c.settings
	return map[string]any{
		"type": "transcription", "object": "realtime.transcription_session", "id": c.id, "expires_at": c.begun.Add(time.Hour).Unix(), "include": set.include,
		"audio": map[string]any{"input": set.object()},
	}
}

// obey does what an event asks for.
func (c *session) obey(kind string, data []byte) error {
	switch kind {
	case sessionUpdate:
		return c.update(data)
	case bufferAppend, bufferCommit, bufferClear:
		if c.settings.transcription == nil {
			return trouble{Code: "invalid_state", Message: "The session has no transcription: session.update comes first."}
		}
		return c.buffer(kind, data)
	}
	return unsupported(kind, sessionUpdate, bufferAppend, bufferCommit, bufferClear)
}

// unsupported is trouble with the type of an event.
func unsupported(kind string, supported ...string) error {
	return trouble{Code: "invalid_value", Message: fmt.Sprintf("Invalid value: '%.60s'. Supported values are: %s.", kind, quoted(supported)), Param: "type"}
}

// update changes the settings.
func (c *session) update(data []byte) error {
	var u struct {
		Type    string `json:"type"`
		Event   string `json:"event_id"`
		Session struct {
			Type  string `json:"type"`
			Audio struct {
				Input inputUpdate `json:"input"`
			} `json:"audio"`
			Include []string `json:"include"`
		} `json:"session"`
	}
	if err := strict(data, &u); err != nil {
		return err
	}
	if u.Session.Type != "transcription" {
		return wrongType(u.Session.Type, "transcription")
	}
	set, err := c.settings.apply(u.Session.Audio.Input, u.Session.Include, false)
	if err == nil && set.transcription == nil {
		err = trouble{Code: "missing_required_parameter", Message: "Missing required parameter: 'session.audio.input.transcription'.", Param: "session.audio.input.transcription"}
	}
	if err == nil {
		err = c.change(set)
	}
	if err != nil {
		return err
	}
	c.send(map[string]any{"type": "session.updated", "session": c.object()})
	return nil
}

// wrongType is trouble with an update for another type of session.
func wrongType(got, want string) error {
	return trouble{Code: "invalid_parameter", Message: fmt.Sprintf("Passing a %s session update event to a %s session is not allowed.", got, want), Param: "session.type"}
}

// began implements owner.
func (c *session) began() {}

// committed implements owner.
func (c *session) committed(string, time.Duration) {}

// ended implements owner.
func (c *session) ended() {}

// transcribed implements owner.
func (c *session) transcribed(in, out int) {
	c.server.Note(func(b *Books) { b.Requests, b.TokensIn, b.TokensOut = b.Requests+1, b.TokensIn+in, b.TokensOut+out })
}
