package wire

import (
	"github.com/danielgtaylor/huma/v2"
	"time"
)

// TranscriptionSegment is one utterance of a recording. Times are in seconds from
// its start.
type TranscriptionSegment struct {
	Text     string  `json:"text" doc:"The words in it."`
	Start    float64 `json:"start" doc:"Where the voice begins, in seconds."`
	End      float64 `json:"end" doc:"Where it ends, in seconds."`
	Duration float64 `json:"duration" doc:"In seconds."`
}

// Transcription is the answer.
type Transcription struct {
	Text       string                 `json:"text" doc:"All that was said." example:"what time does the train leave"`
	Language   string                 `json:"language" doc:"The two-letter code of the request; empty when it was left to a recogniser of several languages."`
	Engine     string                 `json:"engine" doc:"The name of the recogniser."`
	Duration   float64                `json:"duration_seconds" doc:"Length of the audio, which is what is charged."`
	SampleRate int                    `json:"sample_rate" doc:"Samples a second of the audio; of compressed audio the rate it was decoded to."`
	LatencyMS  int64                  `json:"latency_ms" doc:"From the end of the upload to the answer."`
	Segments   []TranscriptionSegment `json:"segments" nullable:"false" doc:"The utterances."`
}

// Task is a task as clients see it.
type Task struct {
	TaskID      string     `json:"task_id" doc:"Names the task in every other request." example:"task_01"`
	Status      string     `json:"status" enum:"pending,processing,completed,failed" doc:"Status of the task; completed and failed are final." example:"processing"`
	Progress    int        `json:"progress" minimum:"0" maximum:"100" doc:"How much of the text is spoken, per cent; 100 when it is completed." example:"40"`
	Format      string     `json:"output_format" doc:"How the audio is written." example:"wav"`
	VoiceID     string     `json:"voice_id" doc:"Who speaks." example:"F1"`
	Language    string     `json:"language" doc:"What is spoken." example:"en"`
	Characters  int64      `json:"characters" doc:"Unicode code points of the text, which are what is charged." example:"1234"`
	CreatedAt   time.Time  `json:"created_at" doc:"When it was submitted."`
	CompletedAt *time.Time `json:"completed_at" doc:"Null until it is completed."`
	ExpiresAt   *time.Time `json:"expires_at" doc:"When the result goes; null until it is completed."`
	Duration    *float64   `json:"duration_seconds" doc:"Length of the audio; null until it is completed."`
	Error       *Failure   `json:"error" doc:"Why it failed; null when it did not."`
}

// Fault is an error as sockets tell of it.
type Fault struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Detail    string `json:"detail"`
	Retryable bool   `json:"retryable"`
}

// Failure is why a task failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Schema implements huma.SchemaProvider: a reference could not be null.
func (*Failure) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Nullable: true, Required: []string{"code", "message"}, Properties: map[string]*huma.Schema{
		"code":    {Type: huma.TypeString, Description: "One of the codes of errors.", Examples: []any{"tts.synthesis_failed"}},
		"message": {Type: huma.TypeString, Description: "The same for people."},
	}}
	s.PrecomputeMessages()
	return s
}
