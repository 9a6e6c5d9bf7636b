package elevenlabstest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// isOurs says whether the body of a refusal is the vendor's.
func isOurs(resp *http.Response) bool {
	var body struct{ Detail struct{ Status string } }
	return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Detail.Status != ""
}

func TestHandshakesAreRefused(t *testing.T) {
	refuses := loopbacktest.Refuses
	loopbacktest.TestHandshakesAreRefused(t, func(f []Fault) (*Server, error) { return Start(Script{Faults: f}) }, isOurs, []loopbacktest.Handshake{
		refuses(path, nil, 401, ""),
		refuses(path, header("wrong"), 401, ""),
		refuses(path, http.Header{"Authorization": {"Bearer " + DefaultKey}}, 401, ""),
		refuses(path+"&voice=x", header(DefaultKey), 400, "unknown query parameter voice"),
		refuses(path+"&xi-api-key="+DefaultKey, header(DefaultKey), 400, "xi-api-key"),
		refuses(path+"&auto_mode=true", header(DefaultKey), 400, "2 times"),
		refuses(path+"&enable_logging=1", header(DefaultKey), 400, "enable_logging"),
		refuses(path+"&inactivity_timeout=181", header(DefaultKey), 400, "inactivity_timeout"),
		refuses(path+"&language_code=english", header(DefaultKey), 400, "language_code"),
		refuses(path+"&seed=-1", header(DefaultKey), 400, "seed"),
		refuses(path+"&apply_text_normalization=true", header(DefaultKey), 400, "apply_text_normalization"),
		refuses(strings.Replace(path, "pcm_8000", "pcm_48000", 1), header(DefaultKey), 400, "output_format"),
		refuses(strings.Replace(path, "flash_v2_5", "flash_v9", 1), header(DefaultKey), 400, ""),
		refuses(strings.Replace(path, "flash_v2_5", "multilingual_v2", 1)+"&language_code=es", header(DefaultKey), 400, "language_code"),
		refuses(strings.Replace(path, DefaultVoice, "nobody", 1), header(DefaultKey), 404, ""),
		refuses(path, header(DefaultKey), 429, "", Fault{Status: 429, RetryAfter: 3 * time.Second}),
		refuses(path, header(DefaultKey), 401, "", Fault{Status: 401}),
	})
}

func TestSettingsComeFirst(t *testing.T) {
	for _, field := range []string{"voice_settings", "generation_config"} {
		s := New(t, Script{Expects: []string{"settings after its first message"}})
		c := dial(t, s, path)
		c.open("c1")
		c.open("c2") // each context has its own
		c.JSON(fieldsOf{"context_id": "c1", "text": "Hello. ", field: fieldsOf{}})
		c.Closed(1008, "first message")
	}
}

func TestSettingsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		change fieldsOf
		says   string
	}{
		{fieldsOf{"voice_settings": fieldsOf{"speed": 1.3}}, "speed"},
		{fieldsOf{"voice_settings": fieldsOf{"stability": -1}}, "stability"},
		{fieldsOf{"generation_config": fieldsOf{"chunk_length_schedule": []int{40}}}, "chunk_length_schedule"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		c := dial(t, s, path)
		tt.change["context_id"], tt.change["text"] = "c1", " "
		c.JSON(tt.change)
		if list := c.Closed(1008, tt.says); len(list) != 1 || list[0].Error != "invalid_voice_settings" || s.Busy() != 0 {
			t.Errorf("%+v", list)
		}
	}
}

func TestASixthContextIsRefused(t *testing.T) {
	s := New(t, Script{Expects: []string{"more than 5 contexts"}, Final: func() time.Duration { return time.Hour }})
	c := dial(t, s, path)
	for _, id := range []string{"c1", "c2", "c3", "c4", "c5"} {
		c.open(id)
		c.end(id) // it counts until its isFinal
	}
	dial(t, s, path).open("c6") // each socket counts its own
	c.open("c6")
	list := c.Closed(1008, "more than 5 contexts")
	if len(list) != 1 || list[0].Error != "max_active_conversations" || list[0].Code != 1008 {
		t.Errorf("%+v", list)
	}
}

func TestContextsAreFreedByTheirEnd(t *testing.T) {
	s := New(t, Script{})
	c := dial(t, s, path)
	for i := range 12 {
		id := string(rune('a' + i))
		c.open(id)
		c.say(id, "One. ")
		c.end(id)
		c.final(id)
	}
	if s.Busy() != 0 || len(s.Contexts()) != 12 {
		t.Errorf("%d busy", s.Busy())
	}
}

func TestMistakes(t *testing.T) {
	s := New(t, Script{Delays: Delays{FirstAudio: func() time.Duration { return time.Hour }}, Expects: []string{
		"does not end with a space", "default context", `close_context of the context "c9" that never was`, "closed already",
		"goes on although it is closed", "begins without text", "flush of the context", "unknown field xi-api-key", "without text, flush",
		"a binary message"}})
	c := dial(t, s, path)
	c.open("c1")
	c.say("c1", "Hello.")
	c.JSON(fieldsOf{"text": "Hello. "})
	c.end("c9")
	c.end("c1")
	c.end("c1")
	c.JSON(fieldsOf{"context_id": "c1", "text": "More. ", "xi-api-key": "secret"})
	c.JSON(fieldsOf{"context_id": "c2", "text": ""})
	c.JSON(fieldsOf{"context_id": "c3", "flush": true})
	c.JSON(fieldsOf{"context_id": "c2"})
	c.JSON(fieldsOf{"text": ""}) // keeps the socket alive
	c.Binary([]byte("{}"))
	c.Closed(1008, "binary")
	if b := s.Books(); b.KeepAlives != 2 || b.Requests != 4 || len(s.Contexts()) != 4 {
		t.Errorf("%+v, %+v", b, s.Contexts())
	}
}

func TestNoJSON(t *testing.T) {
	s := New(t, Script{Expects: []string{"JSON"}})
	c := dial(t, s, path)
	c.Text("{")
	if list := c.Closed(1008, "JSON"); len(list) != 1 || list[0].Error == "" {
		t.Errorf("%+v", list)
	}
}

func TestInactivity(t *testing.T) {
	s := New(t, Script{Inactivity: 150 * ms, Expects: []string{"goes on although it is expired"}})
	c := dial(t, s, path)
	c.open("c1")
	c.final("c1")
	c.end("c1") // it may cross its end
	c.say("c1", "Hello. ")
	c.final("c1")
	list := c.Closed(1008, "inactivity timeout")
	if len(list) != 1 || list[0].Error != "input_timeout_exceeded" {
		t.Errorf("%+v", list)
	}
	if all := s.Contexts(); len(all) != 2 || all[0].End != "expired" || all[1].End != "expired" || all[1].Audio != 420*ms {
		t.Errorf("%+v", all)
	}
}

func TestCloseSocket(t *testing.T) {
	s := New(t, Script{Expects: []string{"after close_socket"}, Final: func() time.Duration { return 100 * ms }})
	c := dial(t, s, path)
	c.open("c1")
	c.say("c1", "First. ")
	c.open("c2")
	c.JSON(fieldsOf{"close_socket": true})
	_ = c.Conn.WriteJSON(fieldsOf{"context_id": "c3", "text": "Hello. "})
	finals := 0
	list := c.Closed(1000, "")
	for _, m := range list {
		if m.Final {
			finals++
		}
	}
	if audio, _, _ := sum(list); finals != 2 || audio != 7*60*16 {
		t.Errorf("%d finals, %d bytes", finals, audio)
	}
}

func TestFaults(t *testing.T) {
	loopbacktest.TestFaults(t, 3, websocket.CloseInternalServerErr, func(t *testing.T, f Fault) *websocket.Conn {
		c := dial(t, New(t, Script{Faults: []Fault{f}}), path)
		c.JSON(fieldsOf{"context_id": "c1", "text": "A long sentence, spoken. ", "flush": true})
		return c.Conn
	})
}

// TestStall: what is not sent counts as in progress.
func TestStall(t *testing.T) {
	s := New(t, Script{Faults: []Fault{{Then: loopbacktest.Stall, AfterMessages: 1}}})
	c := dial(t, s, path)
	c.open("c1")
	c.say("c1", "Hello. ")
	c.end("c1")
	if _, err := c.Read(); err != nil {
		t.Fatal(err)
	}
	_ = c.Conn.SetReadDeadline(time.Now().Add(50 * ms))
	if _, data, err := c.Conn.ReadMessage(); err == nil || s.Busy() != 1 {
		t.Errorf("%s, %d busy", data, s.Busy())
	}
}

func TestNothingIsLeft(t *testing.T) {
	loopbacktest.TestNothingIsLeft(t, 10, Start, Script{}, func(s *Server, i int) io.Closer {
		c := dial(t, s, path)
		c.open("c1")
		c.say("c1", "Hello there. ")
		if i%2 == 0 {
			c.end("c1")
		}
		return c.Conn
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	loopbacktest.TestReplays(t, New, header, nil, map[string]Script{
		"two-sentences": {},
		"barge-in":      {LateChunks: 3, Delays: Delays{Chunk: func() time.Duration { return time.Hour }}},
		"spellings": {Spelling: Spelling{Context: true, Final: true, Starts: true, Durations: true}, Absolute: true,
			Spoken: func(text string) string { return strings.ReplaceAll(text, "2", "two") }},
		"sixth": {Expects: []string{"more than 5 contexts"}},
	})
}
