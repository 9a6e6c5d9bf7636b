package calls

import (
	"context"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/media/quality"
)

type callOutput struct{ Body wire.CallDetail }

func (m *calls) get(ctx context.Context, in *callInput) (*callOutput, error) {
	c, err := m.history.Call(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	d, err := Detail(c, m.db.Now())
	if err != nil {
		return nil, err
	}
	if d.Recording, err = m.recordingOf(ctx, api.AccountOf(ctx), c.ID); err != nil {
		return nil, err
	}
	d.Analysis, err = m.analysisOf(ctx, api.AccountOf(ctx), c.ID)
	return &callOutput{d}, err
}

// CallQuality is what the network did to a telephone call.
type CallQuality struct {
	Available bool `json:"available" doc:"Whether there is something to say: false before the end of a call and for one over a WebSocket; then all else is 0."`

	MOS    float64 `json:"mos" doc:"Mean score of the worse direction, what the agent heard or what this server sent in time, 1 to 4.4 (ITU-T G.107); 0 when nothing came." example:"4.36"`
	MOSMin float64 `json:"mos_min" doc:"The score of its worst 5 seconds." example:"4.1"`

	PacketsReceived uint64  `json:"packets_received" doc:"Without duplicates." example:"9650"`
	PacketsLost     uint64  `json:"packets_lost" doc:"Never heard: lost on the way, or too late." example:"12"`
	PacketsLate     uint64  `json:"packets_late" doc:"Those of them that came too late." example:"3"`
	Loss            float64 `json:"loss" doc:"packets_lost as a share of what was sent, 0 to 1." minimum:"0" maximum:"1" example:"0.0012"`
	JitterMS        float64 `json:"jitter_ms" doc:"Interarrival jitter at the end (RFC 3550 section 6.4.1)." example:"2.1"`
	ConcealedMS     int64   `json:"concealed_ms" doc:"Audio made up in place of lost packets." example:"240"`
	PacketsForeign  uint64  `json:"packets_foreign" doc:"From addresses that are not the far end's, dropped." example:"0"`

	PacketsSent     uint64 `json:"packets_sent" doc:"To the far end." example:"9655"`
	PacketsSentLate uint64 `json:"packets_sent_late" doc:"Those of them that this server sent more than 40 ms after they were due, which most telephones play no more." example:"0"`
	PacketsUnsent   uint64 `json:"packets_unsent" doc:"Those that it did not send because it was too busy." example:"0"`

	RemoteLoss     float64 `json:"remote_loss" doc:"The share of them that the far end lost, in its last report." minimum:"0" maximum:"1" example:"0"`
	RemoteJitterMS float64 `json:"remote_jitter_ms" doc:"The far end's jitter, likewise." example:"1.4"`
	RTTMS          float64 `json:"rtt_ms" doc:"Round trip of the last reports." example:"38.5"`

	Encrypted bool `json:"encrypted" doc:"Whether the audio was encrypted (SRTP)."`
}

type qualityOutput struct{ Body CallQuality }

func (m *calls) quality(ctx context.Context, in *callInput) (*qualityOutput, error) {
	w, err := m.history.Wire(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &qualityOutput{viewQuality(w.Quality)}, nil
}

func viewQuality(r *quality.Report) CallQuality {
	if r == nil {
		return CallQuality{}
	}
	return CallQuality{Available: true, MOS: r.MOS, MOSMin: r.MOSMin,
		PacketsReceived: r.Received, PacketsLost: r.Lost, PacketsLate: r.Late, Loss: r.Loss, JitterMS: r.JitterMS,
		ConcealedMS: r.ConcealedMS, PacketsForeign: r.Foreign,
		PacketsSent: r.Sent, PacketsSentLate: r.SentLate, PacketsUnsent: r.Unsent, RemoteLoss: r.RemoteLoss, RemoteJitterMS: r.RemoteJitterMS, RTTMS: r.RTTMS, Encrypted: r.Encrypted}
}

// SIPMessage is a message of a call's signalling.
type SIPMessage struct {
	At        time.Time `json:"at" doc:"When it was sent or received."`
	Direction string    `json:"direction" doc:"Seen from the server." enum:"sent,received" example:"received"`
	Transport string    `json:"transport" doc:"What it came over." enum:"UDP,TCP,TLS" example:"UDP"`
	From      string    `json:"from" doc:"Address and port that it came from." example:"192.0.2.7:5060"`
	To        string    `json:"to" doc:"Address and port that it went to." example:"198.51.100.1:5060"`
	Message   string    `json:"message" doc:"The whole of it, secrets masked." example:"BYE sip:parley@198.51.100.1:5060 SIP/2.0"`
}

// SIPTrace is the signalling of a call.
type SIPTrace struct {
	Data    []SIPMessage `json:"data" doc:"The messages, oldest first." nullable:"false"`
	Dropped int          `json:"dropped" doc:"Older messages that were not kept." example:"0"`
}

type sipOutput struct{ Body SIPTrace }

func (m *calls) sip(ctx context.Context, in *callInput) (*sipOutput, error) {
	w, err := m.history.Wire(ctx, api.AccountOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	out := &sipOutput{SIPTrace{Data: []SIPMessage{}, Dropped: w.Dropped}}
	for _, t := range w.SIP {
		way := "received"
		if t.Sent {
			way = "sent"
		}
		out.Body.Data = append(out.Body.Data, SIPMessage{t.At.UTC(), way, t.Transport, t.From, t.To, t.Text})
	}
	return out, nil
}
