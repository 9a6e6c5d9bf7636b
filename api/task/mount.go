package task

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/tts"
	"parley/api/wire"
	"parley/store"
	"parley/store/tasks"
)

// maxBody bounds a submission: every character of the longest text written as a
// pair of JSON escapes, and room for the other fields. No larger body can be one.
const maxBody = tts.MaxTaskText*12 + 4<<10

// submitInput is what clients send.
type submitInput struct {
	VoiceID string `path:"voice_id" doc:"F1 to F5 or M1 to M5." example:"F1"`
	Body    struct {
		Text     string   `json:"text" minLength:"1" maxLength:"100000" doc:"What to say; its length counts in Unicode code points." example:"Chapter one. It was a bright cold day."`
		Format   string   `json:"output_format,omitempty" enum:"wav,mp3,pcm,ulaw,pcm_22050,mp3_22050,ulaw_8000" default:"wav" doc:"One channel, 44.1 kHz but for the names with a rate and ulaw, which is 8 kHz G.711 mu-law. pcm is Int16 little endian without a header. MP3 only where the server can write it."`
		Language string   `json:"language" required:"false" doc:"One of en es ca gl eu pt fr it de; there is no default." example:"en"`
		Lang     string   `json:"lang" required:"false" doc:"The same as language, which wins."`
		Speed    *float64 `json:"speed,omitempty" minimum:"0.5" maximum:"2" default:"1.05" doc:"Pace; 1 is the voice's own."`
		Steps    *float64 `json:"steps,omitempty" minimum:"1" maximum:"8" multipleOf:"1" default:"6" doc:"Denoising steps, where the engine has them."`
	}
}

// taskInput names a task.
type taskInput struct {
	TaskID string `path:"task_id" doc:"The task, as the answer to its submission names it." example:"task_01"`
}

// taskOutput is a task.
type taskOutput struct {
	RetryAfter string `header:"Retry-After" doc:"While the task has not ended: when to ask again, in seconds."`
	Body       wire.Task
}

// canceledOutput is what is left of a cancelled task.
type canceledOutput struct {
	Body struct {
		TaskID string `json:"task_id" doc:"The task; it is not known any more." example:"task_01"`
		Status string `json:"status" enum:"canceled" doc:"Always canceled."`
	}
}

var routes = api.Group{Tag: "Speech", Access: api.Service, Scope: api.Synthesis}

// Mount adds the routes of background synthesis to an API.
func Mount(a *api.API, s *Service) {
	submit := routes.Post("/api/tts/{voice_id}/async", "submit-task", "Speak a long text in the background",
		"For texts of up to 100,000 characters. The answer names a task: ask for it every 2 to 5 seconds, and fetch the audio when it is completed. "+
			"The price of the whole text is held now and charged when the task completes; one that fails or is cancelled is free. "+
			"An account may have five tasks waiting or running; they do not count as sessions.",
		http.StatusPaymentRequired).Accepted().Within(maxBody).OwnChecks().Repeatable()
	submit.Missing = api.ErrVoice
	api.Register(a, submit, s.submit)

	api.Register(a, routes.Get("/api/tts/tasks/{task_id}", "get-task", "Get task status",
		"The status goes from `pending` to `processing` to `completed` or `failed`, never back. Ended tasks are kept for a week.", http.StatusNotFound), s.get)

	api.Register(a, routes.Delete("/api/tts/tasks/{task_id}", "cancel-task", "Cancel a task",
		"One that is pending or processing stops, costs nothing and is not known any more. One that has ended stays as it is.",
		http.StatusNotFound, http.StatusConflict), s.cancel)

	fetch := routes.Get("/api/tts/tasks/{task_id}/download", "download-task", "Fetch the audio of a completed task",
		"For a day after its completion.", http.StatusNotFound, http.StatusConflict, http.StatusGone)
	fetch.Parameters = []*huma.Param{{Name: "task_id", In: "path", Required: true, Description: "The task, as the answer to its submission names it.", Schema: &huma.Schema{Type: "string"}, Example: "task_01"}}
	fetch.Responses = downloads()
	a.Handle(fetch, api.HandlerFunc(s.download))
}

// submit is POST /api/tts/{voice_id}/async.
func (s *Service) submit(ctx context.Context, in *submitInput) (*taskOutput, error) {
	ask := tts.Ask{Text: in.Body.Text, Voice: in.VoiceID, Language: in.Body.Language, Lang: in.Body.Lang, Speed: in.Body.Speed, Steps: in.Body.Steps}
	r, err := s.Speaker.Check(ask, tts.Task)
	if err != nil {
		return nil, err
	}
	f, err := formatFor(in.Body.Format)
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(r.Text, 0) {
		return nil, api.Bad("text: it holds the character U+0000")
	}
	t, err := s.tasks.Submit(ctx, tasks.Submission{
		Node: s.Node, Account: api.AccountOf(ctx), Key: api.PrincipalOf(ctx).Key, Card: s.Card(), Chars: int64(utf8.RuneCountInString(r.Text)),
		Script: tasks.Script{Text: r.Text, Voice: r.Voice, Language: r.Language, Format: f.name, Speed: r.Speed, Steps: r.Steps},
	}, s.enqueue)
	if errors.Is(err, store.ErrTasks) {
		return nil, api.ErrJobs
	}
	if err != nil {
		return nil, err
	}
	s.Count("submitted")
	return answer(t), nil
}

// get is GET /api/tts/tasks/{task_id}.
func (s *Service) get(ctx context.Context, in *taskInput) (*taskOutput, error) {
	t, err := s.tasks.Task(ctx, api.AccountOf(ctx), in.TaskID)
	if err != nil {
		return nil, err
	}
	return answer(t), nil
}

// cancel is DELETE /api/tts/tasks/{task_id}.
func (s *Service) cancel(ctx context.Context, in *taskInput) (*canceledOutput, error) {
	err := s.tasks.Cancel(ctx, api.AccountOf(ctx), in.TaskID)
	if errors.Is(err, store.ErrTaskEnded) {
		return nil, api.ErrTaskOver
	}
	if err != nil {
		return nil, err
	}
	s.stop(in.TaskID)
	s.Count("canceled")
	out := &canceledOutput{}
	out.Body.TaskID, out.Body.Status = in.TaskID, "canceled"
	return out, nil
}

// pollAfter is when an unfinished task should be asked for again, in seconds.
const pollAfter = "3"

func answer(t *tasks.Task) *taskOutput {
	// Cut to the database's precision: all answers give the same time.
	out := &taskOutput{Body: wire.Task{TaskID: t.ID, Status: string(t.Status), Progress: t.Progress, Format: t.Format, VoiceID: t.Voice,
		Language: t.Language, Characters: t.Chars, CreatedAt: t.CreatedAt.UTC().Truncate(time.Microsecond), ExpiresAt: t.ExpiresAt}}
	switch t.Status {
	case tasks.Completed:
		seconds := t.Duration.Seconds()
		out.Body.CompletedAt, out.Body.Duration = t.EndedAt, &seconds
	case tasks.Failed:
		out.Body.Error = &wire.Failure{Code: t.ErrorCode, Message: t.ErrorMessage}
	default:
		out.RetryAfter = pollAfter
	}
	return out
}
