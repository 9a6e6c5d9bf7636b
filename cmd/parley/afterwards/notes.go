package afterwards

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/billing"
	"parley/media"
	"parley/pipeline/tool"
	"parley/pipeline/tool/crm"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/jobs"
)

const (
	noteWorkers = 8 // jobs at once on a node: a slow database holds up one, for 20 seconds
	notesTime   = 2 * time.Minute
	notesRound  = time.Minute // then a job takes no further call
)

type crmNotes struct{}

// Kind implements jobs.Args.
func (crmNotes) Kind() string { return "crm_notes" }

// NoteCalls makes a round of the notes that are due.
func (w *Work) NoteCalls(ctx context.Context) error {
	return jobs.Drain(ctx, notesRound, w.Due.ClaimCRMNote, w.noteCall)
}

// noteCall notes one call. When this process dies after the customer database has answered and
// before the answer is stored, the next try finds the note there.
func (w *Work) noteCall(ctx context.Context, note *aftercall.CRMNote) error {
	call, err := w.Calls.Call(ctx, note.Account, note.Session)
	if err != nil {
		return err
	}
	var source tool.CRMSource
	err = json.Unmarshal(note.Source, &source)
	if err == nil {
		err = w.Databases.Note(tool.InTrace(ctx, note.Trace), note.Account, &source, ended(call), note.Try > 1)
	}
	log := w.Log.With("session", note.Session, "account", note.Account)
	status, refused := errors.AsType[*crm.StatusError](err)
	switch {
	case err == nil:
		return w.Due.CRMNoted(ctx, note)
	case ctx.Err() != nil: // the node stops
		return ctx.Err()
	case refused && (status.Status == http.StatusBadRequest || status.Status == http.StatusUnprocessableEntity):
		log.Warn("a call cannot be noted in the customer database and is given up", "err", err)
		return w.Due.CRMNoteFailed(ctx, note)
	}
	log.Warn("a call could not be noted in the customer database and is tried again", "try", note.Try, "err", err)
	return w.Due.CRMNoteDelayed(ctx, note)
}

// ended is a call that has ended, as customer databases describe it.
func ended(c *history.Call) crm.Call {
	out := crm.Call{ID: c.ID, Inbound: c.Direction == billing.Inbound, From: c.From, To: c.To, Reason: string(media.Failed)}
	if c.EndReason != nil {
		out.Reason = *c.EndReason
	}
	if c.StartedAt != nil {
		out.StartedAt = *c.StartedAt
		if c.EndedAt != nil {
			out.Duration = c.EndedAt.Sub(*c.StartedAt)
		}
	}
	var text strings.Builder
	for _, line := range c.Transcript {
		text.WriteString(line.Role + ": " + line.Text + "\n")
	}
	out.Text = strings.TrimSpace(text.String())
	return out
}
