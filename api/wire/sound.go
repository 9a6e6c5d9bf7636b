package wire

import "time"

// Sound is what callers hear while somebody is called for them.
type Sound struct {
	ID         string    `json:"id" doc:"Names the sound in requests and in settings.hold_sound of agents." example:"snd_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name       string    `json:"name" doc:"What it is called." example:"Waltz"`
	DurationMS int64     `json:"duration_ms" doc:"How long it is until it begins again." example:"42000"`
	CreatedAt  time.Time `json:"created_at" doc:"When it was added."`
}
