package clienttest

import (
	"net/http"

	"github.com/gorilla/websocket"
)

var upgrader websocket.Upgrader

// frameSize is that of the frames of speech, in bytes.
const frameSize = 8_820

// stream speaks as /ws/tts does.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		var o order
		if conn.ReadJSON(&o) != nil {
			return
		}
		if p := o.fault(5_000); p != nil {
			_ = conn.WriteJSON(map[string]any{"type": "error", "data": map[string]any{"code": p.Code, "message": p.Error, "retryable": false}})
			continue
		}
		_ = conn.WriteJSON(map[string]any{"type": "timing", "timing": map[string]int{"chunk": 0}, "ttfb_ms": 12.5})
		_ = conn.WriteJSON([]map[string]any{{"v": 0, "c": "a", "t": 0, "id": 0}})
		for pcm := PCM(o.Text); len(pcm) > 0; {
			n := min(len(pcm), frameSize)
			if conn.WriteMessage(websocket.BinaryMessage, pcm[:n]) != nil {
				return
			}
			pcm = pcm[n:]
		}
		if o.Text == "break" {
			return // in the middle
		}
		_ = conn.WriteMessage(websocket.TextMessage, []byte("EOS"))
	}
}

// listen hears as /ws/stt does: each 100 ms of audio add a word, and an utterance
// ends when it is told to.
func (s *Server) listen(w http.ResponseWriter, r *http.Request) {
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	text, samples := "", 0
	say := func(final bool) error {
		return conn.WriteJSON(map[string]any{"type": "transcript", "data": text, "isFinal": final})
	}
	for {
		kind, p, err := conn.ReadMessage()
		if err != nil {
			return
		}
		if kind == websocket.BinaryMessage {
			s.mu.Lock()
			s.heard += len(p) / 2
			s.mu.Unlock()
			for samples += len(p) / 2; samples >= 1_600; samples -= 1_600 {
				text += "word "
				if say(false) != nil {
					return
				}
			}
			continue
		}
		switch m := string(p); {
		case m == `{"language":"ca"}`+"\n":
			_ = conn.WriteJSON(map[string]any{"type": "error", "data": "The language cannot be recognised.", "code": "stt.language_not_supported", "retryable": false})
			_ = conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.ClosePolicyViolation, "The language cannot be recognised."))
			return
		case m == `{"type":"end"}`+"\n":
			if say(true) != nil {
				return
			}
			text, samples = "", 0
		}
	}
}
