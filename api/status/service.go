package status

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/tts"
	"parley/media"
)

// ServiceHealth is how the service and what it stands on are.
type ServiceHealth struct {
	Status    string       `json:"status" enum:"operational,degraded,down" doc:"Degraded: some of it works."`
	Version   string       `json:"version" doc:"The version of the program; to a ticket that of the API."`
	Timestamp time.Time    `json:"timestamp" doc:"When this was found out."`
	Services  ServiceParts `json:"services" doc:"What the server needs besides its engines."`
}

// ServiceParts are what the service stands on.
type ServiceParts struct {
	Engine   string `json:"engine" enum:"healthy,unavailable" doc:"Of speech and language."`
	Database string `json:"database" doc:"Whether the accounts can be reached." enum:"connected,unreachable"`
	Storage  string `json:"storage" doc:"Whether results can be kept." enum:"available,unavailable"`
}

// ServiceVoices are the voices, grouped.
type ServiceVoices struct {
	Voices []ServiceVoice `json:"voices" doc:"All of them." nullable:"false"`
	// Groups holds identifiers by gender and by character.
	Groups map[string][]string `json:"groups" doc:"Identifiers by gender and by character."`
}

// ServiceVoice is one voice.
type ServiceVoice struct {
	VoiceID     string `json:"voice_id" doc:"What requests call the voice." example:"F1"`
	Name        string `json:"name" doc:"The voice's name for people."`
	Gender      string `json:"gender" doc:"How it sounds." enum:"female,male"`
	Description string `json:"description" doc:"Its character in a word or two."`
}

// ServiceModels are the engines.
type ServiceModels struct {
	Models []ServiceModel `json:"models" doc:"All of them." nullable:"false"`
}

// ServiceModel is one engine.
type ServiceModel struct {
	ModelEntry
	Languages  []string `json:"languages" nullable:"false" doc:"Codes of the languages it knows."`
	SampleRate int      `json:"sample_rate,omitempty" doc:"Of the audio that goes in or comes out, in Hz."`
	Ready      bool     `json:"ready" doc:"Whether it can be used now."`
	Reason     string   `json:"reason,omitempty" doc:"Why it is not ready."`
}

// ServiceHealth says what works.
func (s *Server) ServiceHealth(ctx context.Context) ServiceHealth {
	found := s.check()
	h := ServiceHealth{"operational", s.Version, now(), ServiceParts{"healthy", "connected", "available"}}
	if found.engine() != nil {
		h.Status, h.Services.Engine = "degraded", "unavailable"
	}
	if found.storage != nil {
		h.Status, h.Services.Storage = "degraded", "unavailable"
	}
	if found.database != nil { // no credential can be checked
		h.Status, h.Services.Database = "down", "unreachable"
	}
	return h
}

// ServiceVoices lists the voices by what they have in common.
func (s *Server) ServiceVoices() ServiceVoices {
	list := ServiceVoices{Groups: map[string][]string{"female": {}, "male": {}}}
	for _, v := range tts.Voices() {
		list.Voices = append(list.Voices, ServiceVoice{v.ID, v.Name, v.Gender, v.Description})
		for _, group := range []string{v.Gender, strings.ToLower(v.Description)} { // the description is the character
			list.Groups[group] = append(list.Groups[group], v.ID)
		}
	}
	return list
}

// sampleRates are what the API takes and gives, whatever an engine works at.
var sampleRates = map[Kind]int{TTS: int(tts.Rate), STT: int(media.Rate16k)}

// ServiceModels lists the engines and whether they work.
func (s *Server) ServiceModels(ctx context.Context) ServiceModels {
	found := s.check()
	list := ServiceModels{Models: []ServiceModel{}}
	for i, m := range s.Models().Models {
		known := s.Engines[i].Info().Languages
		if known == nil {
			known = []string{}
		}
		model := ServiceModel{ModelEntry: m, Languages: known, SampleRate: sampleRates[m.Kind], Ready: found.engines[i] == nil}
		if !model.Ready {
			model.Reason = reason(found.engines[i])
		}
		list.Models = append(list.Models, model)
	}
	return list
}

func mountService(a *api.API, s *Server) {
	health := func(ctx context.Context) ServiceHealth {
		h := s.ServiceHealth(ctx)
		if api.PrincipalOf(ctx).Ticket != nil { // a browser's, maybe a stranger's
			h.Version = api.DocumentVersion
		}
		return h
	}
	report(a, "health", "How the service is", "Whether the engines, the database and the storage work, by checks that are at most a second old.",
		keepNot, health)
	report(a, "voices", "The voices by gender and character", "May be kept for a day.", "max-age=86400",
		func(context.Context) ServiceVoices { return s.ServiceVoices() })
	report(a, "models", "The engines and whether they are ready", "One that is not says why.", keepNot, s.ServiceModels)
}

func report[T any](a *api.API, name, summary, description, keep string, ask func(context.Context) T) {
	api.Register(a, api.Route{Access: api.Service, Scope: api.AnyScope, Operation: huma.Operation{
		Method: http.MethodGet, Path: "/api/status/" + name, OperationID: "get-service-" + name, Tags: []string{"Service"},
		Summary: summary, Description: description,
	}}, func(ctx context.Context, _ *struct{}) (*answer[T], error) {
		return &answer[T]{keep, ask(ctx)}, nil
	})
}
