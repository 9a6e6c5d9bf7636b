package task

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/store/ledger"
)

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

// pollAfter is when an unfinished task should be asked for again, in seconds.
const pollAfter = "3"

func answer(t *ledger.Task) *taskOutput {
	// Cut to the database's precision: all answers give the same time.
	out := &taskOutput{Body: Task{TaskID: t.ID, Status: string(t.Status), Progress: t.Progress, Format: t.Format, VoiceID: t.Voice,
		Language: t.Language, Characters: t.Chars, CreatedAt: t.CreatedAt.UTC().Truncate(time.Microsecond), ExpiresAt: t.ExpiresAt}}
	switch t.Status {
	case ledger.TaskCompleted:
		seconds := t.Duration.Seconds()
		out.Body.CompletedAt, out.Body.Duration = t.EndedAt, &seconds
	case ledger.TaskFailed:
		out.Body.Error = &Failure{t.ErrorCode, t.ErrorMessage}
	default:
		out.RetryAfter = pollAfter
	}
	return out
}
