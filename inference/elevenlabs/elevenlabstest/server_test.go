package elevenlabstest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

func TestHandshakesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		path   string
		header http.Header
		faults []Fault
		status int
		says   string // the violation; empty: there is none
	}{
		{path: path, status: 401},
		{path: path, header: header("wrong"), status: 401},
		{path: path, header: http.Header{"Authorization": {"Bearer " + DefaultKey}}, status: 401},
		{path: path + "&voice=x", header: header(DefaultKey), status: 400, says: "unknown query parameter voice"},
		{path: path + "&xi-api-key=" + DefaultKey, header: header(DefaultKey), status: 400, says: "xi-api-key"},
		{path: path + "&auto_mode=true", header: header(DefaultKey), status: 400, says: "2 times"},
		{path: path + "&enable_logging=1", header: header(DefaultKey), status: 400, says: "enable_logging"},
		{path: path + "&inactivity_timeout=181", header: header(DefaultKey), status: 400, says: "inactivity_timeout"},
		{path: path + "&language_code=english", header: header(DefaultKey), status: 400, says: "language_code"},
		{path: path + "&seed=-1", header: header(DefaultKey), status: 400, says: "seed"},
		{path: path + "&apply_text_normalization=true", header: header(DefaultKey), status: 400, says: "apply_text_normalization"},
		{path: strings.Replace(path, "pcm_8000", "pcm_48000", 1), header: header(DefaultKey), status: 400, says: "output_format"},
		{path: strings.Replace(path, "flash_v2_5", "flash_v9", 1), header: header(DefaultKey), status: 400},
		{path: strings.Replace(path, "flash_v2_5", "multilingual_v2", 1) + "&language_code=es", header: header(DefaultKey), status: 400, says: "language_code"},
		{path: strings.Replace(path, DefaultVoice, "nobody", 1), header: header(DefaultKey), status: 404},
		{path: path, header: header(DefaultKey), faults: []Fault{{Status: 429, RetryAfter: 3 * time.Second}}, status: 429},
		{path: path, header: header(DefaultKey), faults: []Fault{{Status: 401}}, status: 401},
	} {
		s, err := Start(Script{Faults: tt.faults})
		if err != nil {
			t.Fatal(err)
		}
		resp := loopbacktest.Refused(t, s.Server, tt.path, tt.header)
		s.Close()
		violations := strings.Join(s.Violations(), "\n")
		if resp.StatusCode != tt.status || !strings.Contains(violations, tt.says) || tt.says == "" && violations != "" {
			t.Errorf("%s: %v, %q", tt.path, resp, violations)
			continue
		}
		if strings.Contains(violations, DefaultKey) {
			t.Error("the key is in a violation")
		}
		var body struct{ Detail struct{ Status string } }
		if json.NewDecoder(resp.Body).Decode(&body) != nil || body.Detail.Status == "" {
			t.Errorf("%d has no body of the vendor's", resp.StatusCode)
		}
	}
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
	s := New(t, Script{Expects: []string{"more than 5 contexts"}, Delays: Delays{Final: func() time.Duration { return time.Hour }}})
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
	s := New(t, Script{Expects: []string{"after close_socket"}, Delays: Delays{Final: func() time.Duration { return 100 * ms }}})
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
	loopbacktest.NothingIsLeft(t, func() {
		s, err := Start(Script{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			c := dial(t, s, path)
			c.open("c1")
			c.say("c1", "Hello there. ")
			if i%2 == 0 {
				c.end("c1")
			}
			if i%3 == 0 {
				c.Conn.Close()
			}
		}
		s.Close()
		if b := s.Books(); b.Opened != 10 || b.Open != 0 {
			t.Errorf("%+v", b)
		}
	})
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	for name, script := range map[string]Script{
		"two-sentences": {},
		"barge-in":      {LateChunks: 3, Delays: Delays{Chunk: func() time.Duration { return time.Hour }}},
		"spellings": {Spelling: Spelling{Context: true, Final: true, Starts: true, Durations: true}, Absolute: true,
			Spoken: func(text string) string { return strings.ReplaceAll(text, "2", "two") }},
		"sixth": {Expects: []string{"more than 5 contexts"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t, script)
			loopbacktest.Replay(t, "testdata/"+name+".jsonl", s.URL, header(s.Key), nil)
		})
	}
}
