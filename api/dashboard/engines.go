package dashboard

import (
	"time"

	"parley/api/status"
)

func enginePages() []page {
	return []page{
		{route: "GET " + home + "/engines", open: users, serve: enginesPage},
		{route: "GET " + home + "/engines/state", open: users, serve: enginesState},
	}
}

type enginesView struct {
	Health  status.ServiceHealth
	Report  status.ServerReport
	Engines []engineGroup
	Busy    float64 // the share of the server's calls that is in use
}

// engineGroup is the engines that do the same.
type engineGroup struct {
	Title, What string
	Models      []status.ServiceModel
}

// Uptime is how long the program runs, for templates.
func (v enginesView) Uptime() time.Duration {
	return time.Duration(v.Report.UptimeSeconds) * time.Second
}

// Load is what share of the server's calls is in use, in percent.
func (v enginesView) Load() int { return int(v.Busy*100 + 0.5) }

func (q *Request) enginesView() enginesView {
	ctx := q.Context()
	v := enginesView{Health: q.Status.ServiceHealth(ctx), Report: q.Status.Report(ctx), Busy: q.Status.Load()}
	groups := map[status.Kind]*engineGroup{status.STT: {Title: "Hearing", What: "turns speech into text"},
		status.LLM: {Title: "Answering", What: "decides what to say"}, status.TTS: {Title: "Speaking", What: "turns text into speech"}}
	for _, m := range q.Status.ServiceModels(ctx).Models {
		if g := groups[m.Kind]; g != nil {
			g.Models = append(g.Models, m)
		}
	}
	for _, k := range []status.Kind{status.STT, status.LLM, status.TTS} {
		v.Engines = append(v.Engines, *groups[k])
	}
	return v
}

func enginesPage(q *Request) error { return q.Page("engines", "Engines and health", q.enginesView()) }

// enginesState is the part that is asked for again and again.
func enginesState(q *Request) error { return q.Part("engines", "engines-state", q.enginesView()) }
