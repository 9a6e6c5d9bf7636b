package realtimetest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

const (
	leastCommit = 100 * time.Millisecond
	maxAppend   = 15 << 20 // bytes of base64
)

// session is one connection.
type session struct {
	hear     *hearingtest.Hearer // nil: not configured
	settings settings
	server   *Transcription
	events   *loopbacktest.Queue // at once
	results  *loopbacktest.Queue // of transcription, which do not hold events up
	id       string
	begun    time.Time

	item     string             // the id of what will be committed next; "": not chosen
	previous string             // the item that was committed last; "": none
	words    []hearingtest.Word // of what will be committed next
	deltas   int                // how many of them were sent
	buffered time.Duration      // audio that will be committed next
	speaking bool               // the server's detection
	held     []loopbacktest.Outgoing
}

// serve serves one session until it ends.
func serve(s *Transcription, k *loopbacktest.Socket) {
	c := &session{server: s, events: s.Queue(k), results: s.Queue(k), settings: initial(), id: s.id("sess_"), begun: time.Now()}
	c.send(map[string]any{"type": "session.created", "session": c.settings.object(c.id, c.begun)})
	s.Go(func() {
		if s.Wait(k.Context(), s.script.Lifetime) {
			_ = k.Write(s.failure(trouble{Code: expired, Message: tooOld}))
			k.Close(websocket.CloseGoingAway, tooOld)
		}
	})
	for {
		kind, data, err := k.Read()
		if err != nil {
			return
		}
		if kind != websocket.TextMessage {
			err = trouble{Code: "invalid_message", Message: "Binary messages are not supported."}
		} else {
			err = c.obey(data)
		}
		var t trouble
		if errors.As(err, &t) {
			c.events.Add(loopbacktest.Outgoing{Message: s.failure(t)})
		}
		if err != nil && !errors.Is(err, errEmptyDetected) {
			s.Violate("%s", t.Message)
		}
	}
}

// send queues an event.
func (c *session) send(event map[string]any) {
	event["event_id"] = c.server.id("event_")
	c.events.Add(loopbacktest.Outgoing{Message: event})
}

// Types of events.
const (
	sessionUpdate = "session.update"
	bufferAppend  = "input_audio_buffer.append"
	bufferCommit  = "input_audio_buffer.commit"
	bufferClear   = "input_audio_buffer.clear"
)

// obey does what an event asks for; its error is a trouble.
func (c *session) obey(data []byte) error {
	var m struct {
		Type  string
		Event string `json:"event_id"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return trouble{Code: "invalid_json", Message: "The event is not JSON."}
	}
	err := c.event(m.Type, data)
	var t trouble
	if errors.As(err, &t) {
		t.Event = m.Event
		if errors.Is(err, errEmptyDetected) {
			return errors.Join(errEmptyDetected, t)
		}
		return t
	}
	return err
}

// event does what an event of a type asks for.
func (c *session) event(kind string, data []byte) error {
	var m struct {
		Type  string `json:"type"`
		Event string `json:"event_id"`
		Audio string `json:"audio"`
	}
	switch kind {
	case sessionUpdate:
		return c.update(data)
	case bufferAppend, bufferCommit, bufferClear:
		if err := strict(data, &m); err != nil {
			return err
		}
		if m.Audio != "" && kind != bufferAppend {
			return trouble{Code: "unknown_parameter", Message: "Unknown parameter: 'audio'.", Param: "audio"}
		}
	default:
		return trouble{Code: "invalid_value", Param: "type",
			Message: fmt.Sprintf("Invalid value: '%.60s'. Supported values are: %s.", kind, quoted([]string{sessionUpdate, bufferAppend, bufferCommit, bufferClear}))}
	}
	if c.hear == nil {
		return trouble{Code: "invalid_state", Message: "The session has no transcription: session.update comes first."}
	}
	switch kind {
	case bufferAppend:
		return c.append(m.Audio)
	case bufferCommit:
		return c.commit()
	}
	c.reset()
	c.send(map[string]any{"type": "input_audio_buffer.cleared"})
	return nil
}

// update changes the settings.
func (c *session) update(data []byte) error {
	set, err := c.settings.apply(data)
	if err != nil {
		return err
	}
	if c.hear != nil && set.format != c.settings.format {
		return invalid("audio.input.format", "The format of the audio cannot change.")
	}
	c.settings = set
	if c.hear == nil {
		c.hear = c.server.dialogue.Listen(c.server.Server, codings[set.format.Type], rates[set.format.Type])
	}
	c.send(map[string]any{"type": "session.updated", "session": set.object(c.id, c.begun)})
	return nil
}

// append hears audio.
func (c *session) append(text string) error {
	coding, rate := codings[c.settings.format.Type], rates[c.settings.format.Type]
	audio, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return trouble{Code: "invalid_value", Message: "Invalid 'audio'. Expected base64-encoded audio bytes.", Param: "audio"}
	case len(audio) == 0:
		return trouble{Code: "invalid_value", Message: "Invalid 'audio'. Expected a non-empty value.", Param: "audio"}
	case len(text) > maxAppend:
		return trouble{Code: "string_above_max_length", Message: "Invalid 'audio': string too long.", Param: "audio"}
	case len(audio)%coding.Width() != 0:
		return trouble{Code: "invalid_value", Message: fmt.Sprintf("Invalid 'audio'. %d bytes are no whole samples.", len(audio)), Param: "audio"}
	}
	if c.settings.detection == nil {
		c.buffered += time.Duration(len(audio)/coding.Width()) * time.Second / time.Duration(rate)
	}
	c.hear.Hear(audio, c.step)
	return nil
}

// reset forgets what would be committed next.
func (c *session) reset() {
	c.item, c.words, c.deltas, c.buffered, c.speaking = "", nil, 0, 0, false
}
