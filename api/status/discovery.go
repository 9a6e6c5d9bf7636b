package status

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/stt"
	"parley/api/tts"
)

// VoiceList is the answer about voices.
type VoiceList struct {
	Voices []VoiceEntry `json:"voices" doc:"All of them." nullable:"false"`
}

// VoiceEntry is one voice; each speaks every language.
type VoiceEntry struct {
	ID          string   `json:"id" doc:"What requests name." example:"F1"`
	Name        string   `json:"name" doc:"The voice's name for people."`
	Gender      string   `json:"gender" doc:"How it sounds." enum:"female,male"`
	Description string   `json:"description" doc:"Its character in a word or two."`
	Languages   []string `json:"languages" nullable:"false" doc:"Codes of the languages it speaks."`
}

// LanguageList is the answer about languages.
type LanguageList struct {
	Languages []LanguageEntry `json:"languages" doc:"All of them." nullable:"false"`
}

// LanguageEntry is one language that can be spoken.
type LanguageEntry struct {
	Code        string `json:"code" doc:"Two letters (ISO 639-1)." example:"en"`
	Name        string `json:"name" doc:"In English." example:"English"`
	Recognition bool   `json:"recognition" doc:"Whether this server can also recognise it."`
}

// ModelList is the answer about models.
type ModelList struct {
	Models []ModelEntry `json:"models" doc:"All of them." nullable:"false"`
}

// ModelEntry is one engine.
type ModelEntry struct {
	Name        string `json:"name" doc:"What the engine is called."`
	Description string `json:"description" doc:"What it is."`
	Default     bool   `json:"default" doc:"Whether it is the first choice of its kind."`
	Kind        Kind   `json:"kind" enum:"tts,stt,llm,realtime" doc:"Speaks, recognises, answers, or does all three."`
	Scripted    bool   `json:"scripted" doc:"It follows rules; there is no model behind it."`
	Options     any    `json:"options,omitempty" doc:"JSON Schema of the options that an agent may give it; absent: it has none."`
	Vendor      string `json:"vendor,omitempty" doc:"Whose it is; openai also of other servers that speak its dialect. Absent: it comes along with this server and works offline." example:"deepgram"`
	Unproven    bool   `json:"unproven,omitempty" doc:"It was tried against a fake of its vendor only; absent: against the real one, or it has none." example:"true"`
	TakesKeys   bool   `json:"takes_keys,omitempty" doc:"Accounts may set keys of their own for it; absent: it takes none." example:"true"`
}

// Limits are the bounds of synthesis requests and what comes back.
type Limits struct {
	MaxTextLength      int     `json:"max_text_length" doc:"Unicode code points." example:"5000"`
	MaxAsyncTextLength int     `json:"max_async_text_length" doc:"Unicode code points, in background tasks." example:"100000"`
	MinSpeed           float64 `json:"min_speed" doc:"The slowest pace; 1 is the voice's own." example:"0.5"`
	MaxSpeed           float64 `json:"max_speed" doc:"The fastest pace." example:"2"`
	MinSteps           int     `json:"min_steps" doc:"The fewest denoising steps." example:"1"`
	MaxSteps           int     `json:"max_steps" doc:"The most denoising steps." example:"8"`
	SampleRate         int     `json:"sample_rate" doc:"Of the audio that is sent, in Hz." example:"44100"`
	Channels           int     `json:"channels" doc:"Channels of synthesised audio." example:"1"`
	CompressedAudio    bool    `json:"compressed_audio" doc:"Whether uploads and results may be compressed; without it they are WAV and PCM only."`
}

// HealthReport says in a word whether the server is ready.
type HealthReport struct {
	Status    string    `json:"status" doc:"ok when conversations can start." enum:"ok,warming_up"`
	Timestamp time.Time `json:"timestamp" doc:"When this was found out."`
	Version   string    `json:"version" doc:"The version of the program; without a key that of the API."`
	Runtime   string    `json:"runtime" doc:"What the program was built with, and for; without a key its name alone." example:"go1.26 linux/amd64"`
	Inference string    `json:"inference" doc:"The primary engines." example:"tts espeak, stt pocketsphinx, llm scripted"`
	Load      float64   `json:"load" minimum:"0" maximum:"1" doc:"How much of what the server can take it has; without a key in tenths."`
}

// ServerReport are the server's own numbers.
type ServerReport struct {
	Status            string    `json:"status" doc:"ok when conversations can start." enum:"ok,warming_up"`
	Ready             bool      `json:"ready" doc:"The same as a yes or no."`
	Timestamp         time.Time `json:"timestamp" doc:"When this was found out."`
	Version           string    `json:"version" doc:"The version of the program; without a key that of the API."`
	Runtime           string    `json:"runtime" doc:"What the program was built with, and for; without a key its name alone." example:"go1.26 linux/amd64"`
	Inference         string    `json:"inference" doc:"The primary engines." example:"tts espeak, stt pocketsphinx, llm scripted"`
	UptimeSeconds     int64     `json:"uptime_seconds" doc:"Since the program started; 0 without a key."`
	Goroutines        int       `json:"goroutines" doc:"Things that the program does at once; 0 without a key."`
	MemAllocBytes     uint64    `json:"mem_alloc_bytes" doc:"Of the heap, in use; 0 without a key."`
	ActiveConnections int64     `json:"active_connections" doc:"Requests, streams and sockets in progress, this one among them; 0 without a key."`
	ActiveCalls       int       `json:"active_calls" doc:"Conversations in progress, on sockets and telephones; 0 without a key."`
	FailedRequests    uint64    `json:"failed_requests" doc:"Answers with a status of 500 or more since the start; 0 without a key."`
}

// Voices lists the voices.
func (s *Server) Voices() VoiceList {
	var codes []string
	for _, l := range tts.Languages() {
		codes = append(codes, l.Code)
	}
	list := VoiceList{Voices: []VoiceEntry{}}
	for _, v := range tts.Voices() {
		list.Voices = append(list.Voices, VoiceEntry{v.ID, v.Name, v.Gender, v.Description, codes})
	}
	return list
}

// Languages lists the languages.
func (s *Server) Languages() LanguageList {
	list := LanguageList{Languages: []LanguageEntry{}}
	for _, l := range tts.Languages() {
		known := slices.Contains(stt.Languages(), l.Code) && s.heard(l.Code)
		list.Languages = append(list.Languages, LanguageEntry{l.Code, l.Name, known})
	}
	return list
}

// Models lists the engines.
func (s *Server) Models() ModelList {
	list := ModelList{Models: []ModelEntry{}}
	seen := map[Kind]bool{}
	for _, e := range s.Engines {
		info := e.Info()
		list.Models = append(list.Models, ModelEntry{info.Name, info.Description, e.Kind != Realtime && !seen[e.Kind], e.Kind, info.Scripted, e.Options, e.Vendor, e.Unproven, e.TakesKeys})
		seen[e.Kind] = true
	}
	return list
}

// Limits are the bounds of requests.
func (s *Server) Limits() Limits {
	return Limits{
		MaxTextLength: tts.MaxText, MaxAsyncTextLength: tts.MaxTaskText,
		MinSpeed: tts.MinSpeed, MaxSpeed: tts.MaxSpeed, MinSteps: 1, MaxSteps: tts.MaxSteps,
		SampleRate: int(tts.Rate), Channels: 1, CompressedAudio: s.Compressed,
	}
}

// Health says whether the server is ready.
func (s *Server) Health(ctx context.Context) HealthReport {
	return HealthReport{s.word(ctx), now(), s.Version, program, s.inference(), min(max(s.Load(), 0), 1)}
}

// Report is how the server is.
func (s *Server) Report(ctx context.Context) ServerReport {
	word := s.word(ctx)
	return ServerReport{
		Status: word, Ready: word == wordOK, Timestamp: now(), Version: s.Version, Runtime: program, Inference: s.inference(),
		UptimeSeconds: int64(time.Since(s.Started).Seconds()), Goroutines: runtime.NumGoroutine(), MemAllocBytes: heap(),
		ActiveConnections: s.Counts.Active(), ActiveCalls: s.Calls(), FailedRequests: s.Counts.Failed(),
	}
}

// To strangers a server says whether it works and how busy it is, which is what those who
// share calls out need. What it is made of helps attackers only; clients expect the
// fields all the same.

func (h HealthReport) forStrangers() HealthReport {
	h.Version, h.Runtime, h.Load = api.DocumentVersion, "parley", math.Round(h.Load*10)/10
	return h
}

func (r ServerReport) forStrangers() ServerReport {
	return ServerReport{Status: r.Status, Ready: r.Ready, Timestamp: r.Timestamp, Version: api.DocumentVersion, Runtime: "parley", Inference: r.Inference}
}

// told is what the caller may know of a report: without a key, what strangers makes of it.
func told[T any](ask func(context.Context) T, strangers func(T) T) func(context.Context) T {
	return func(ctx context.Context) T {
		r := ask(ctx)
		if api.PrincipalOf(ctx) == (api.Principal{}) {
			return strangers(r)
		}
		return r
	}
}

// The only two words that clients know.
const (
	wordOK      = "ok"
	wordWarming = "warming_up"
)

func (s *Server) word(ctx context.Context) string {
	if s.check().ready() {
		return wordOK
	}
	return wordWarming
}

// program is what runs the server.
var program = runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH

// inference names the engines that are asked first.
func (s *Server) inference() string {
	var names []string
	for _, m := range s.Models().Models {
		if m.Default {
			names = append(names, string(m.Kind)+" "+m.Name)
		}
	}
	return strings.Join(names, ", ")
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// heap is how many bytes the heap's objects take. Unlike runtime.ReadMemStats,
// asking does not stop the world, which strangers could do all day.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// answer is an answer of a route, in huma's form.
type answer[T any] struct {
	CacheControl string `header:"Cache-Control"`
	Body         T
}

// How long clients and proxies may keep an answer.
const (
	keepShort = "public, max-age=300" // a restart with other settings shows in five minutes
	keepNot   = "no-store"
)

// mountDiscovery adds each route twice: some clients take the address of the
// agent socket for the base of all others.
func mountDiscovery(a *api.API, s *Server) {
	for _, under := range []string{"", "/ws/agent"} {
		discover(a, under, "voices", "The voices", "Ten voices, each of which speaks every language.", keepShort,
			func(context.Context) VoiceList { return s.Voices() })
		discover(a, under, "languages", "The languages", "What can be spoken, and what this server can also recognise.", keepShort,
			func(context.Context) LanguageList { return s.Languages() })
		discover(a, under, "models", "The engines of this server", "What speaks, recognises and answers here, those that speak first.", keepShort,
			func(context.Context) ModelList { return s.Models() })
		discover(a, under, "config", "The limits of requests", "What synthesis requests may ask for, and the format of what comes back.", keepShort,
			func(context.Context) Limits { return s.Limits() })
		discover(a, under, "status", "The server's numbers", "How long the server has run and what it is doing. Its numbers are for API keys; without one they are 0.", keepNot, told(s.Report, ServerReport.forStrangers))
		discover(a, under, "health", "Whether the server is ready", "`warming_up` also when something it needs has gone. The checks are at most a second old. No credential is needed; with an API key the answer says more.", keepNot, told(s.Health, HealthReport.forStrangers))
	}
}

func discover[T any](a *api.API, under, name, summary, description, keep string, ask func(context.Context) T) {
	op := huma.Operation{Method: http.MethodGet, Path: under + "/" + name, OperationID: "get-" + name, Tags: []string{"Discovery"},
		Summary: summary, Description: description}
	if under != "" {
		op.OperationID += "-for-agents"
		op.Summary += ", beside the agent socket"
		op.Description = "The same as /" + name + ", for clients that know no address but the agent socket's."
	}
	api.Register(a, api.Route{Access: api.Public, KnowsKeys: true, Operation: op}, func(ctx context.Context, _ *struct{}) (*answer[T], error) {
		return &answer[T]{keep, ask(ctx)}, nil
	})
}
