package inference

import "context"

// Stages of the engines that report to a meter, as agents name them. What models consume is in the usage of each reply.
const (
	StageASR = "asr"
	StageTTS = "tts"
)

// Meter takes what a stream of an engine has consumed, at its end, and that of a stream which another engine took over
// from. It is called from the engines' goroutines, before the stream has ended for its reader, and must not block.
type Meter func(stage, engine string, u Usage)

type meterKey struct{}

// With is ctx for streams whose engines report to m; nil: to nobody.
func (m Meter) With(ctx context.Context) context.Context {
	if m == nil {
		return ctx
	}
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns whom the streams of ctx report to; nil: nobody.
func MeterOf(ctx context.Context) Meter {
	m, _ := ctx.Value(meterKey{}).(Meter)
	return m
}

// Spent reports what a stream has consumed; an engine of a vendor calls it once, with the context of Open or Speak.
func Spent(ctx context.Context, stage, engine string, u Usage) {
	if m := MeterOf(ctx); m != nil {
		m(stage, engine, u)
	}
}
