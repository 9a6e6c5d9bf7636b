package wsagent_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/api/apitest"
	"parley/api/talk"
	"parley/api/wsagent"
)

// begin is a converse function that hands over with what and when a conversation
// began.
func begin(at chan time.Time, with chan string) func(context.Context, talk.Change, *wsagent.Leg) {
	return func(ctx context.Context, c talk.Change, leg *wsagent.Leg) {
		at <- time.Now()
		with <- describe(c)
		attend(ctx, c, leg)
	}
}

// TestConfiguration: every order in which clients configure themselves, and when
// the conversation begins after the last of it.
func TestConfiguration(t *testing.T) {
	const tools = `{"type":"tools","data":[{"type":"function","function":{"name":"order","parameters":{}}},{"type":"function"}]}`
	type step struct {
		after time.Duration
		frame string // empty: 20 ms of audio
	}
	const at = 10 * time.Millisecond
	for _, tt := range []struct {
		name  string
		steps []step
		want  string
		begin time.Duration // after the last step
	}{
		{"tools last", []step{{0, `{"type":"visemes","data":false}`}, {at, `{"type":"voice","data":"F2"}`}, {at, `{"type":"language","data":"es"}`},
			{at, `{"type":"prompt","data":"Be kind."}`}, {at, `{"type":"rates","playback":44100,"input":16000}`}, {190 * time.Millisecond, tools}},
			`voice="F2" language="es" prompt="Be kind." tools=order`, 200 * time.Millisecond},
		{"prompt first, said twice", []step{{0, `{"type":"prompt","data":"One."}`}, {at, `{"type":"voice","data":"m5"}`}, {at, `{"type":"prompt","data":"Two."}`}},
			`voice="M5" prompt="Two."`, 200 * time.Millisecond},
		{"prompt without data", []step{{0, `{"type":"prompt"}`}, {at, `{"type":"voice"}`}, {at, `{"type":"language","data":null}`}}, `prompt=""`, 200 * time.Millisecond},
		{"names of newer clients", []step{{0, `{"type":"voice","data":"esca_m2"}`}, {0, `{"type":"language","data":"pt-BR"}`}}, `voice="M2" language="pt"`, 200 * time.Millisecond},
		{"what is invalid is left out", []step{{0, `{"type":"voice","data":"Z9"}`}, {0, `{"type":"language","data":"ko"}`}, {0, `{"type":"voice","data":7}`},
			{0, `nonsense`}, {0, `{"type":"tools","data":{}}`}, {0, `{"type":"prompt","data":"P"}`}}, `prompt="P"`, 200 * time.Millisecond},
		{"audio before the prompt", []step{{0, ""}, {at, ""}, {at, `{"type":"prompt","data":"P"}`}}, `prompt="P"`, 200 * time.Millisecond},
		{"audio after the prompt", []step{{0, `{"type":"prompt","data":"P"}`}, {at, ""}}, `prompt="P"`, 0},
		{"audio only", []step{{100 * time.Millisecond, ""}}, "", 900 * time.Millisecond},
		{"never quiet", []step{{150 * time.Millisecond, `{"type":"visemes","data":true}`}, {150 * time.Millisecond, `{"type":"visemes","data":true}`},
			{150 * time.Millisecond, `{"type":"visemes","data":true}`}, {150 * time.Millisecond, `{"type":"visemes","data":true}`},
			{150 * time.Millisecond, `{"type":"visemes","data":true}`}, {150 * time.Millisecond, `{"type":"visemes","data":true}`}}, "", 100 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, with := make(chan time.Time, 1), make(chan string, 1)
				s := newServer(t, apitest.InMemory, &agents{converse: begin(began, with)}, nil)
				p := s.connect(t)
				go p.drain()
				synctest.Wait()
				for _, st := range tt.steps {
					time.Sleep(st.after)
					if st.frame == "" {
						p.sound(make([]byte, 640))
					} else {
						p.say("%s", st.frame)
					}
					synctest.Wait()
				}
				last := time.Now()
				if tt.begin > 0 {
					time.Sleep(tt.begin - time.Millisecond)
					if len(began) > 0 {
						t.Fatalf("began %v after the last frame, want %v", (<-began).Sub(last), tt.begin)
					}
				}
				if got := (<-began).Sub(last); tt.begin > 0 && got != tt.begin || got > tt.begin {
					t.Errorf("began %v after the last frame, want %v", got, tt.begin)
				}
				if got := <-with; got != tt.want {
					t.Errorf("began with %s, want %s", got, tt.want)
				}
				p.Close()
			})
		})
	}
}

// drain reads to the end of the connection.
func (p *peer) drain() {
	for {
		if _, err := p.next(); err != nil {
			return
		}
	}
}

// TestErrorFrames: a frame that cannot be used is answered, and the connection
// stays.
func TestErrorFrames(t *testing.T) {
	t.Parallel()
	s := newServer(t, apitest.OverNetwork, &agents{}, nil)
	p := s.connect(t)
	p.wantStatus("prompt_set")
	for _, tt := range []struct {
		frame, code string
		retryable   bool
	}{
		{`{"type":"voice","data":"Z9"}`, "validation.invalid_voice", false},
		{`{"type":"language","data":"ko"}`, "validation.invalid_language", false},
		{`{"type":"voice","data":{}}`, "validation.invalid_request_format", true},
		{`{"type":"text","data":5}`, "validation.invalid_request_format", true},
		{`{"type":"tools","data":"order"}`, "validation.invalid_request_format", true},
		{`{"type":"tool_result","data":"x"}`, "validation.invalid_request_format", true},
		{`{"type":"features","data":"duck"}`, "validation.invalid_request_format", true},
		{`["voice"]`, "validation.invalid_request_format", true},
		{`{"type":`, "validation.invalid_request_format", true},
		{"\xff\xfe", "validation.invalid_request_format", true},
	} {
		for _, ignored := range []string{`{"type":"vad_speech_start"}`, `{"type":"unheard_of","data":[1]}`, `{}`, `null`,
			`{"type":"played","ms":-5}`, `{"type":"played"}`, `{"type":"text","data":"  "}`} {
			p.say("%s", ignored)
		}
		p.say("%s", tt.frame)
		m, err := p.next()
		if err != nil {
			t.Fatalf("%s: %v", tt.frame, err)
		}
		data, _ := m.Data.(map[string]any)
		if m.Type != "error" || data["code"] != tt.code || data["retryable"] != tt.retryable {
			t.Errorf("%s: answered with %+v", tt.frame, m)
		}
	}
	p.say(`{"type":"text","data":"still here"}`)
	s.wantTold(t, "type still here")
}

// TestControl: what the conversation is told, in order.
func TestControl(t *testing.T) {
	t.Parallel()
	legs := make(chan *wsagent.Leg, 1)
	s := newServer(t, apitest.OverNetwork, &agents{converse: func(ctx context.Context, c talk.Change, leg *wsagent.Leg) {
		legs <- leg
		attend(ctx, c, leg)
	}}, nil)
	p := s.connect(t)
	p.say(`{"type":"interrupt"}`) // there is nothing to interrupt yet
	p.say(`{"type":"text","data":"early"}`)
	p.say(`{"type":"text","data":"second"}`)
	s.wantTold(t, "type early")
	s.wantTold(t, "type second")
	leg := <-legs
	leg.ToolCall(toolCall, 1)
	leg.ToolCall(bareCall, 1)
	first, second := p.want("tool_call").CallID, p.want("tool_call").CallID
	for _, tt := range []struct{ frame, want string }{
		{`{"type":"text","data":"hello","visemes":true}`, "type hello"},
		{`{"type":"interrupt"}`, "interrupt"},
		{`{"type":"tool_result","data":{"call_id":"` + first + `","result":"{\"ok\":true}"}}`, `tool c1 {"ok":true}`},
		{`{"type":"tool_result","data":{"call_id":"` + second + `","result":{"ok":true}}}`, `tool c2 {"ok":true}`},
		{`{"type":"voice","data":"en_m3"}`, `update voice="M3"`},
		{`{"type":"language","data":"FR"}`, `update language="fr"`},
		{`{"type":"prompt","data":"New."}`, `update prompt="New."`},
		{`{"type":"tools","data":[]}`, "update tools="},
	} {
		p.say(`{"type":"rates","playback":44100,"input":16000}`) // nothing changes
		p.say("%s", tt.frame)
		s.wantTold(t, tt.want)
		p.say(`{"type":"tool_result","data":{"result":"again"}}`) // as clients do
		p.say(`{"type":"tool_result","data":{"call_id":"c1","result":"forged"}}`)
		p.say(`{"type":"tool_result","data":{"call_id":"call_1_1","result":"forged"}}`)
	}
	p.say(`{"type":"tool_result","data":{"call_id":"%s","result":"again"}}`, first)
	p.say(`{"type":"interrupt"}`)
	s.wantTold(t, "interrupt")
}

// TestTypedTurns: a typed turn has a length, and turns come at the pace at which people
// type; what is refused is answered, and the connection stays.
func TestTypedTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, apitest.InMemory, &agents{}, nil)
		p := s.connect(t)
		p.wantStatus("prompt_set")
		longest := strings.Repeat("é", talk.MaxTurn)
		refused := func(text, code string) {
			t.Helper()
			p.say(`{"type":"text","data":"%s"}`, text)
			data, _ := p.want("error").Data.(map[string]any)
			if data["code"] != code || data["retryable"] != (code == "auth.rate_limited") {
				t.Errorf("%d bytes: answered with %+v", len(text), data)
			}
		}
		for range 10 { // what is refused does not count
			refused(longest+"e", "validation.text_too_long")
		}
		p.say(`{"type":"text","data":"%s"}`, longest)
		s.wantTold(t, "type "+longest)
		taken := 1
		for began := time.Now(); time.Since(began) < 4*time.Second; time.Sleep(100 * time.Millisecond) {
			p.say(`{"type":"text","data":"again"}`)
			synctest.Wait()
			for ; len(s.agents.told) > 0; taken++ {
				<-s.agents.told
			}
		}
		if taken < 6 || taken > 8 {
			t.Errorf("took %d turns in four seconds, want two a second", taken)
		}
		time.Sleep(time.Second)
		p.say(`{"type":"text","data":"later"}`)
		s.wantTold(t, "type later")
	})
}

func TestAgentIDReachesTheConversation(t *testing.T) {
	t.Parallel()
	s := newServer(t, apitest.OverNetwork, &agents{}, nil)
	conn, _, err := s.Dialer.Dial(s.url("?api_key="+goodKey+"&agent_id=agt_7"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	(&peer{t, conn}).wantStatus("prompt_set")
	s.agents.mu.Lock()
	defer s.agents.mu.Unlock()
	if s.agents.agentID != "agt_7" {
		t.Errorf("agent %q", s.agents.agentID)
	}
}
