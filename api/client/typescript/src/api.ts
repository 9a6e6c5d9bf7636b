// Code generated from the service's OpenAPI document. DO NOT EDIT.

import { Page, Requests, type Changed, type Asked, type Repeated, type ServerEvent } from "./requests.js";

export interface APIKey {
  /** When it was made. */
  created_at: string;
  /**
   * Identifier of the user, or of the account's key, that made it; null: it was made on the server, or before this was
   * noted.
   */
  created_by: string | null;
  /** The user's address; null: it was no user, or they are gone. */
  created_by_email: string | null;
  /** Names the key in requests; it is no secret. */
  id: string;
  /** The key's last four characters. */
  last4: string;
  /** To the minute; null: never. */
  last_used_at: string | null;
  /** Whether it may listen in on calls. */
  listen: boolean;
  /** Whether it may change what is paid: automatic recharge, limits of spending. */
  money: boolean;
  /** What it is for. */
  name: string;
  /** Null while it is good. */
  revoked_at: string | null;
  /**
   * What it may do: a member's key all but members, an owner's all. Changes of what is paid need the mark money as
   * well.
   */
  role: "member" | "owner";
  /** Whether it may speak in calls, too. */
  speak: boolean;
}

export interface Account {
  /** In US dollars, sessions in progress counted. */
  balance: number;
  /** Sessions at once, where an operator has set that; null: as the rate card says. */
  concurrency: number | null;
  /**
   * How long the contents of calls are kept: transcripts, summaries, and recordings at the longest; null: until
   * somebody deletes it.
   */
  conversation_days: number | null;
  /** When it was made. */
  created_at: string;
  /** Where warnings are mailed; empty: nowhere. */
  email: string;
  /** Null before the first top-up. */
  first_topup_at: string | null;
  /** Names the account in requests. */
  id: string;
  /** Sessions in progress. */
  live: number;
  /** For people. */
  name: string;
  /** Payments that are disputed: while there is one, nothing starts. */
  open_disputes: number;
  /** How long recordings of calls are kept. */
  recording_days: number;
  /** What the rate card says. */
  standard_concurrency: number;
  /** By an operator: nothing starts. */
  suspended: boolean;
}

export interface AccountChangeBody {
  /** Sessions at once; 0: as the rate card says. */
  concurrency?: number;
  /**
   * How long transcripts of calls are kept, recordings included; it counts for what is there, too. 0: until somebody
   * deletes it.
   */
  conversation_days?: number;
  /** US dollars a day (UTC); null: no limit. */
  daily_limit?: number | null;
  /** Where warnings are mailed; empty: nowhere. */
  email?: string;
  /** How long recordings of calls are kept; it counts for those that are there, too. */
  recording_days?: number;
  /** Whether nothing may start, and what is in progress ends. */
  suspended?: boolean;
}

export interface AccountDetail {
  /** In US dollars, sessions in progress counted. */
  balance: number;
  /** Sessions at once, where an operator has set that; null: as the rate card says. */
  concurrency: number | null;
  /**
   * How long the contents of calls are kept: transcripts, summaries, and recordings at the longest; null: until
   * somebody deletes it.
   */
  conversation_days: number | null;
  /** When it was made. */
  created_at: string;
  /** Where warnings are mailed; empty: nowhere. */
  email: string;
  /** Null before the first top-up. */
  first_topup_at: string | null;
  /** Names the account in requests. */
  id: string;
  /** Sessions in progress. */
  live: number;
  /** Who belongs to it, owners first; empty: it is used by its keys alone. */
  members: Array<Member>;
  /** For people. */
  name: string;
  /** Payments that are disputed: while there is one, nothing starts. */
  open_disputes: number;
  /** How long recordings of calls are kept. */
  recording_days: number;
  /** What the rate card says. */
  standard_concurrency: number;
  /** By an operator: nothing starts. */
  suspended: boolean;
}

export interface AccountEvent {
  /** When it stopped being so, which of a number that is lost is known beforehand; null while it is. */
  cleared_at: string | null;
  /** When it was noticed. */
  created_at: string;
  /** The figures; which are there depends on the kind. */
  data: EventFigures;
  /** Names the event; younger ones sort later. */
  id: string;
  /**
   * balance.low, number.past_due, number.released, recharge.failed, dispute.opened, webhook.disabled, spending.limit
   * or engine_key.refused; there may be more kinds.
   */
  kind: string;
  /** The same for people. */
  message: string;
}

export interface AccountSecret {
  /** When it was made. */
  created_at: string;
  /** Where it may be sent; empty: wherever a function sends it. */
  hosts: Array<string>;
  /** How functions refer to it: {{secret.NAME}}. */
  name: string;
  /** When its value was set last. */
  updated_at: string;
}

export interface Agent {
  /** Send it as agent_id. */
  id: string;
  /** The language it speaks. */
  language: string;
  /** For people. */
  name: string;
  /** The voice it speaks with. */
  voice: string;
}

export interface AgentChange {
  /** What it says first; empty: it waits for the caller. */
  first_message?: string;
  /** What it speaks and hears: en es ca gl eu pt fr it de, or auto, which is the caller's; at first en. */
  language?: string;
  /** Values that take the place of those of the same names; null takes a name away, and names that are absent stay. */
  metadata?: Record<string, string | null>;
  /** For people, 200 bytes at most. */
  name?: string;
  /** Who the agent is and what it knows, 100,000 bytes at most. */
  prompt?: string;
  settings?: AgentSettings;
  tools?: AgentTools;
  /** F1 to F5 or M1 to M5; at first F1. */
  voice?: string;
}

export interface AgentCheck {
  /** The fields of the agent that the document would change; null without agent_id, and when it is not valid. */
  changes: Array<Change> | null;
  /** All that is wrong; empty when it is valid. */
  mistakes: Array<Mistake>;
  /** Whether it would be taken. */
  valid: boolean;
}

export interface AgentDefinition {
  /** When it was made. */
  created_at: string;
  /** What it says first; empty: it waits for the caller. */
  first_message: string;
  /** Names the agent in requests and conversations. */
  id: string;
  /** What it speaks and hears; with auto its caller's, after it began in the one that follows. */
  language: "en" | "es" | "ca" | "gl" | "eu" | "pt" | "fr" | "it" | "de" | "auto-en" | "auto-es" | "auto-ca" | "auto-gl" | "auto-eu" | "auto-pt" | "auto-fr" | "auto-it" | "auto-de";
  metadata?: Metadata;
  /** For people. */
  name: string;
  /** Who the agent is and what it knows. */
  prompt: string;
  settings: AgentSettings;
  tools: AgentTools;
  /** When it was changed last; its metadata does not count. */
  updated_at: string;
  /** Grows with every change; it is the ETag. */
  version: number;
  /** One of the ten. */
  voice: "F1" | "F2" | "F3" | "F4" | "F5" | "M1" | "M2" | "M3" | "M4" | "M5";
}

export interface AgentDiff {
  /** The fields that differ; empty when none does. */
  changes: Array<Change>;
  /** The version compared with; 0: a new agent. */
  from: number;
  /** The version. */
  to: number;
}

export interface AgentFigures {
  /** The agent, which may have been deleted since; null: of no agent of the account. */
  agent_id: string | null;
  /** That as a share of all, with four digits; null: there are no calls. */
  answer_rate: number | null;
  /** How many of them were answered; on a WebSocket, had a first prompt. */
  answered: number;
  /** How many have ended. */
  calls: number;
  /** What they have cost, with what was charged for them after their end. */
  cost: number;
  /** Seconds since their answers, all together. */
  duration: number;
}

/** How the agent converses. What is not there has its default. */
export interface AgentSettings {
  /**
   * What the agent's language model makes of each answered call when it is over, charged as summary tokens. A call's
   * analysis has it, and webhooks get call.analyzed.
   */
  analysis?: {
    /**
     * A JSON Schema, 16384 bytes at most, of the facts that are taken out of the transcript: type object with
     * properties, and on every level type, title, description, enum (texts), minimum, maximum, minLength, maxLength,
     * maxItems, items, properties, required and additionalProperties. What does not fit it is asked for once more, and
     * then the analysis has failed.
     */
    extract?: Record<string, unknown>;
    /** Write a summary of the call, in a few sentences; false. */
    summary?: boolean;
    /** What the summary is to look at besides; summary is needed, too. */
    summary_prompt?: string;
  };
  /** How long the caller speaks over the agent until it stops; 600. */
  barge_in_ms?: number;
  /** Telephone calls offer collect_digits, which has the caller type a number; true. */
  collect_digits?: boolean;
  /**
   * The engines that it uses, of those that the server offers (GET /models), each by name or as an object with a model
   * and options of its own: one, or several that are tried in order, the next within the turn in which one fails.
   * Every server has those of vad and denoise, of which one is named. What is absent is the server's default. A call's
   * engines say which of the others served.
   */
  engines?: {
    /** Recognition. */
    asr?: string | {
      /** Its name. */
      engine: string;
      /** The model, as its vendor calls it; without it the server's. */
      model?: string;
      /** Settings of the engine, which count before the server's. Unknown ones are refused. */
      options?: {
        /**
         * Of Flux: the probability from which a turn has likely ended, no more than eot_threshold; without it nothing
         * is said of that.
         */
        eager_eot_threshold?: number;
        /** Of Flux: the probability from which a turn has ended; 0.7. */
        eot_threshold?: number;
        /** Of Flux: the longest pause in a turn. */
        eot_timeout_ms?: number;
        /** Keeps what is said out of Deepgram's training. An agent cannot change what the operator has set. */
        mip_opt_out?: boolean;
        /** Names the requests in Deepgram's statistics. */
        tag?: string;
      } | {
        /** Of the Universal models: the confidence from which a turn ends with the shorter silence. */
        end_of_turn_confidence_threshold?: number;
        /** The silence in ms after which a turn has ended. */
        max_turn_silence?: number;
        /** The silence in ms after which a turn may end. */
        min_turn_silence?: number;
      } | {
        /** Has Soniox find the ends of turns. */
        enable_endpoint_detection?: boolean;
        /** How long it may take for that after the caller has ended. */
        max_endpoint_delay_ms?: number;
      } | {
        /** Below which a turn is likely over; 0.4. Less than turn_start_threshold. */
        turn_eager_end_threshold?: number;
        /** Below which a turn is over; 0.2. Less than turn_eager_end_threshold. */
        turn_end_threshold?: number;
        /** The longest pause in a turn; 960. */
        turn_end_timeout_ms?: number;
        /** Of ink-2, as all of these: the likelihood of speech above which a turn begins; 0.8. */
        turn_start_threshold?: number;
      } | {
        /** When false ElevenLabs keeps nothing. An agent cannot change what the operator has set. */
        enable_logging?: boolean;
        /** Leaves out filler words and false starts. */
        no_verbatim?: boolean;
      } | Record<string, unknown>;
    } | Array<string | {
      /** Its name. */
      engine: string;
      /** The model, as its vendor calls it; without it the server's. */
      model?: string;
      /** Settings of the engine, which count before the server's. Unknown ones are refused. */
      options?: {
        /**
         * Of Flux: the probability from which a turn has likely ended, no more than eot_threshold; without it nothing
         * is said of that.
         */
        eager_eot_threshold?: number;
        /** Of Flux: the probability from which a turn has ended; 0.7. */
        eot_threshold?: number;
        /** Of Flux: the longest pause in a turn. */
        eot_timeout_ms?: number;
        /** Keeps what is said out of Deepgram's training. An agent cannot change what the operator has set. */
        mip_opt_out?: boolean;
        /** Names the requests in Deepgram's statistics. */
        tag?: string;
      } | {
        /** Of the Universal models: the confidence from which a turn ends with the shorter silence. */
        end_of_turn_confidence_threshold?: number;
        /** The silence in ms after which a turn has ended. */
        max_turn_silence?: number;
        /** The silence in ms after which a turn may end. */
        min_turn_silence?: number;
      } | {
        /** Has Soniox find the ends of turns. */
        enable_endpoint_detection?: boolean;
        /** How long it may take for that after the caller has ended. */
        max_endpoint_delay_ms?: number;
      } | {
        /** Below which a turn is likely over; 0.4. Less than turn_start_threshold. */
        turn_eager_end_threshold?: number;
        /** Below which a turn is over; 0.2. Less than turn_eager_end_threshold. */
        turn_end_threshold?: number;
        /** The longest pause in a turn; 960. */
        turn_end_timeout_ms?: number;
        /** Of ink-2, as all of these: the likelihood of speech above which a turn begins; 0.8. */
        turn_start_threshold?: number;
      } | {
        /** When false ElevenLabs keeps nothing. An agent cannot change what the operator has set. */
        enable_logging?: boolean;
        /** Leaves out filler words and false starts. */
        no_verbatim?: boolean;
      } | Record<string, unknown>;
    }>;
    /**
     * What takes the noise off the caller's audio: spectral; gtcrn, a neural network that takes more of it, costs more
     * of the server and is 18 ms later; or off, nothing.
     */
    denoise?: "spectral" | "gtcrn" | "off" | Array<"spectral" | "gtcrn" | "off">;
    /** The language model. */
    llm?: string | {
      /** Its name. */
      engine: string;
      /** The model, as its vendor calls it; without it the server's. */
      model?: string;
      /** Settings of the engine, which count before the server's. Unknown ones are refused. */
      options?: {
        /** How long a prompt is cached. */
        cache_ttl?: "5m" | "1h";
        /** Of a reply at most. */
        max_tokens?: number;
        /** How freely words are chosen. */
        temperature?: number;
        /** The likeliest words are chosen among, up to this probability together. */
        top_p?: number;
      } | {
        /** Of a reply at most. */
        max_tokens?: number;
        /** How freely words are chosen. */
        temperature?: number;
        /** The same of Gemini 2.5, in tokens; -1: as it sees fit. Not with thinking_level. */
        thinking_budget?: number;
        /** How much Gemini 3 thinks before it answers; without it as little as the model allows. */
        thinking_level?: "minimal" | "low" | "medium" | "high";
        /** The likeliest words are chosen among, up to this probability together. */
        top_p?: number;
      } | {
        /** chat, which all servers of the dialect have, or OpenAI's own. */
        api?: "chat" | "responses";
        /** Of a reply at most. */
        max_tokens?: number;
        /** How much a model that reasons does so before it answers; over responses low. */
        reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh";
        /** How freely words are chosen. */
        temperature?: number;
        /** The likeliest words are chosen among, up to this probability together. */
        top_p?: number;
      };
    } | Array<string | {
      /** Its name. */
      engine: string;
      /** The model, as its vendor calls it; without it the server's. */
      model?: string;
      /** Settings of the engine, which count before the server's. Unknown ones are refused. */
      options?: {
        /** How long a prompt is cached. */
        cache_ttl?: "5m" | "1h";
        /** Of a reply at most. */
        max_tokens?: number;
        /** How freely words are chosen. */
        temperature?: number;
        /** The likeliest words are chosen among, up to this probability together. */
        top_p?: number;
      } | {
        /** Of a reply at most. */
        max_tokens?: number;
        /** How freely words are chosen. */
        temperature?: number;
        /** The same of Gemini 2.5, in tokens; -1: as it sees fit. Not with thinking_level. */
        thinking_budget?: number;
        /** How much Gemini 3 thinks before it answers; without it as little as the model allows. */
        thinking_level?: "minimal" | "low" | "medium" | "high";
        /** The likeliest words are chosen among, up to this probability together. */
        top_p?: number;
      } | {
        /** chat, which all servers of the dialect have, or OpenAI's own. */
        api?: "chat" | "responses";
        /** Of a reply at most. */
        max_tokens?: number;
        /** How much a model that reasons does so before it answers; over responses low. */
        reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh";
        /** How freely words are chosen. */
        temperature?: number;
        /** The likeliest words are chosen among, up to this probability together. */
        top_p?: number;
      };
    }>;
    /**
     * One engine that hears, answers and speaks by itself, by its name, in place of the three above in calls; llm then
     * serves what comes after them. Its audio is charged by the token.
     */
    realtime?: string | Array<string>;
    /** The voice. */
    tts?: string | {
      /** Its name. */
      engine: string;
      /** The model, as its vendor calls it; without it the server's. */
      model?: string;
      /** Settings of the engine, which count before the server's. Unknown ones are refused. */
      options?: {
        /** As Cartesia names it. */
        emotion?: string;
        /** 1 is the voice's own. */
        volume?: number;
      } | {
        /** Of the Flux voices. */
        expressivity?: number;
        /** Keeps what is said out of Deepgram's training. An agent cannot change what the operator has set. */
        mip_opt_out?: boolean;
      } | {
        /** How near it keeps to the speaker that it was made from. */
        similarity_boost?: number;
        /** How evenly the voice speaks. */
        stability?: number;
        /** How much it exaggerates that speaker's style. */
        style?: number;
        /** Brings it nearer to that speaker, and takes longer. */
        use_speaker_boost?: boolean;
      } | Record<string, unknown>;
    } | Array<string | {
      /** Its name. */
      engine: string;
      /** The model, as its vendor calls it; without it the server's. */
      model?: string;
      /** Settings of the engine, which count before the server's. Unknown ones are refused. */
      options?: {
        /** As Cartesia names it. */
        emotion?: string;
        /** 1 is the voice's own. */
        volume?: number;
      } | {
        /** Of the Flux voices. */
        expressivity?: number;
        /** Keeps what is said out of Deepgram's training. An agent cannot change what the operator has set. */
        mip_opt_out?: boolean;
      } | {
        /** How near it keeps to the speaker that it was made from. */
        similarity_boost?: number;
        /** How evenly the voice speaks. */
        stability?: number;
        /** How much it exaggerates that speaker's style. */
        style?: number;
        /** Brings it nearer to that speaker, and takes longer. */
        use_speaker_boost?: boolean;
      } | Record<string, unknown>;
    }>;
    /**
     * What notices that the caller speaks: spectral, which is the sooner, or silero, a neural network that tells their
     * voice from others behind them.
     */
    vad?: "spectral" | "silero" | Array<"spectral" | "silero">;
  };
  /** The same for the first message; as interruptible, and never with a recording_notice. */
  first_message_interruptible?: "always" | "never" | "after_first_sentence";
  /** What it says when a limit ends the conversation. It may have variables. */
  goodbye?: string;
  /**
   * The agents of the account that hand_over may pass the caller to, in the same call. From then on the other agent
   * conducts it, with its own prompt, voice, functions, engines and turn-taking; the recording and the longest
   * duration stay those of the first. Agents whose engine hears and speaks by itself neither hand over nor take over.
   */
  hand_over_to?: Array<{
    /** Its identifier: ag_…, of the same account. */
    agent: string;
    /** When to hand over to it. */
    description?: string;
    /** What it is given of the conversation: all that was said, or a summary that the agent writes; all. */
    history?: "all" | "summary";
    /** What the agent calls it. No two have one name. */
    name: string;
  }>;
  /** What it says then; without it a sentence in its language. It may have variables. */
  hold_announcement?: string;
  /**
   * How often the agent tells callers on hold that they are still waiting; the sound stops for it. 20 to 300 seconds,
   * or 0 for never; 0.
   */
  hold_announcement_seconds?: number;
  /**
   * What callers hear while this server calls somebody for them: ringing, the tone of the country that is called;
   * music; or a sound of the account, by its identifier, and the tone again when that is deleted. A carrier that
   * transfers by itself plays what it likes; ringing.
   */
  hold_sound?: string;
  /** How often it does before it says goodbye; 2. */
  idle_reprompts?: number;
  /** Silence after which the agent speaks up; 10. 0: never. */
  idle_seconds?: number;
  /** Whether the caller may interrupt; always. What is said while they may not is answered afterwards. */
  interruptible?: "always" | "never" | "after_first_sentence";
  /** A key that the caller presses interrupts, where speech would; true. */
  key_interrupts?: boolean;
  /** What the agent knows besides its prompt, to whose end it is added as it is. */
  knowledge?: Array<{
    /** What there is to know. */
    text: string;
    /** What it is about. */
    title: string;
  }>;
  /** The collections of documents that the agent answers from, by their identifiers: kb_…, of the same account. */
  knowledge_bases?: Array<string>;
  /**
   * When documents are searched: function, when the model calls search_knowledge; or turn, each time the caller has
   * spoken, for passages that fit their words. A search of a turn that takes more than 150 ms is left out. An engine
   * that hears and speaks by itself always has the function.
   */
  knowledge_mode?: "function" | "turn";
  /**
   * Everybody in the call hears a short, soft tone of 1400 Hz when a supervisor begins to listen in, and every 15
   * seconds after that. Some laws require one; false.
   */
  listening_tone?: boolean;
  /** What is said after a machine's tone; needed with on_machine message. It may have variables. */
  machine_message?: string;
  /** The longest conversation; 7200. */
  max_duration_seconds?: number;
  /** The longest wait for the end of the caller's turn; 2400. */
  max_endpoint_ms?: number;
  /** The shortest silence that ends the caller's turn; 950 by the words, and 450 when an engine judges the pause. */
  min_endpoint_ms?: number;
  /**
   * What a machine gets that answers a call, unless the call says otherwise: the agent, nothing, or machine_message;
   * continue.
   */
  on_machine?: "continue" | "hangup" | "message";
  /** Telephone calls offer opt_out, which puts the other party on the do-not-call list; true. */
  opt_out?: boolean;
  /** What callers are expected to say, 2000 texts at most. */
  phrases?: Array<string>;
  /**
   * How words are pronounced: whole words, in any case, the longest that fits. Transcripts and captions keep what is
   * written.
   */
  pronunciation?: Array<{
    /** As it would be written if it were written as it sounds. 200 bytes at most. */
    say: string;
    /** A word, or several, as it is written. 200 bytes at most. */
    word: string;
  }>;
  /**
   * The variables that visitors may set: pages that hold a session ticket send values of these alone, and never over
   * those of the ticket.
   */
  public_variables?: Array<string>;
  /** Record the agent's calls, both sides; false. Inform callers where the law says so. */
  record?: boolean;
  /**
   * Go on recording after the caller has been connected to somebody by a call of this server: what the two say. They
   * must know, too; false.
   */
  record_transfers?: boolean;
  /** What is said before the first message, word for word. Neither can be interrupted then. */
  recording_notice?: string;
  /** How long an incoming call rings; 1000. */
  ring_ms?: number;
  /** Telephone calls offer send_dtmf, which presses keys; true. */
  send_dtmf?: boolean;
  /**
   * Telephone calls offer send_sms, which sends the other party a text message of at most 1000 characters, three in a
   * call; false. You pay for the messages.
   */
  send_sms?: boolean;
  /**
   * The number that text messages come from, one that the account has bought here; without it the account's number of
   * the call.
   */
  sms_from?: string;
  /**
   * Begin replies in pauses in which the caller has probably finished, which makes answers quicker. A reply that is
   * begun in vain, at most twice in a turn, is charged as tokens on a line of its own; none is begun while the balance
   * is below zero. As llm.speculative_replies_default of the rate card.
   */
  speculative_llm?: boolean;
  /**
   * Have the first sentence of such a reply spoken in advance by a voice of another server, too; false. Voices of this
   * server always do.
   */
  speculative_voice?: boolean;
  /** How fast the agent speaks; 1 is the voice's own pace. */
  speed?: number;
  /**
   * The parts of the conversation, one after the other: the agent begins at the first, has its instructions beside the
   * prompt, and goes on with the function next_step when the model finds that a condition holds. An engine that hears
   * and speaks by itself has the instructions of all.
   */
  steps?: Array<{
    /** What it is called. No two have one name. */
    name: string;
    /** The steps that follow, and when; none: it is the last one. */
    next?: Array<{
      /** The step that follows. */
      to: string;
      /** When to go on to it. It may have variables. */
      when: string;
    }>;
    /** What the agent does at this step. It may have variables. */
    prompt: string;
  }>;
  /**
   * Send the audio of the agent's calls to a WebSocket while they go on, in the messages of Twilio's Media Streams.
   * Inform callers where the law says so.
   */
  stream?: {
    /** `{{secret.NAME}}` stands for a secret of the account. */
    headers?: Record<string, string>;
    /** What is sent: what the person on the line says, what they hear, or both; both. */
    tracks?: "inbound" | "outbound" | "both";
    /** Where it is sent, a wss address on the public Internet; empty: nowhere. */
    url?: string;
  };
  /** The time zone of {{now}}, such as Europe/Madrid; UTC. */
  timezone?: string;
  /** transfer_call may hand calls over to any number that may be called, not only to those of transfer_to; false. */
  transfer_any?: boolean;
  /**
   * Whom transfer_call may hand telephone calls over to. The carrier does it; where it refuses, or with warm or stay,
   * this server calls them on another line and connects the two.
   */
  transfer_to?: Array<{
    /** When to transfer to them. */
    description?: string;
    /** What the agent calls them. No two have one name. */
    name?: string;
    /**
     * A number in international format that may be called; or a SIP address, such as sip:200@pbx.example.com or
     * sip:sales@192.0.2.7:5070;transport=tcp, whose server is a target of one of the account's trunks, and which is
     * called there. Telephone numbers have no place in it.
     */
    number: string;
    /**
     * They are called on another line, and the agent says its summary to both, who hear each other already. It leaves
     * when they have spoken, 10 seconds after its last word at the latest. If they hang up before that, the agent has
     * the caller again. It takes precedence over warm; false.
     */
    stay?: boolean;
    /** They are called on another line, and told the agent's summary before the caller is put through; false. */
    warm?: boolean;
  }>;
  /**
   * What ends the caller's turn: words, those that were said and the silence after them; or engine, a recogniser that
   * finds the ends of turns, and otherwise silence for max_endpoint_ms. As the recogniser does: engine when it finds
   * them, else words.
   */
  turns?: "words" | "engine";
  /**
   * The variables that the prompt, the first message, the goodbye and the message to machines name as {{name}}, with
   * their values when nobody gives any. A name is a letter and at most 39 letters, digits and _. The server sets
   * {{call.from}}, {{call.to}}, {{caller.name}}, {{caller.verified}} (yes or no), {{caller.attestation}} (A, B or C),
   * {{call.diverted_by}}, {{call.first_called}}, {{call.header.x-name}} and {{now}}.
   */
  variables?: Record<string, string>;
}

/**
 * Functions that the agent may call. Those of type `function`, in OpenAI's form, are run by the client of the
 * conversation; the others by this server, on the telephone too.
 */
export type AgentTools = Array<{
  /** The customer database; without it, or without `provider`, the server's. */
  crm?: {
    /** `{{secret.NAME}}`. */
    api_key?: string;
    /** Note telephone calls there when they are over; true. */
    log_calls?: boolean;
    /** Offer `crm_lookup`; true. */
    lookup?: boolean;
    /** `rest` or `hubspot`. */
    provider?: string;
    /** Its base address. */
    url?: string;
  };
  /** Of `http`: when to call it. */
  description?: string;
  /** How the function is described to the language model. */
  function?: {
    /** When to call it. */
    description?: string;
    /** Unique in the list. */
    name: string;
    /** JSON Schema of its arguments. */
    parameters?: Record<string, unknown>;
  };
  /** The request. */
  http?: {
    /**
     * JSON in which texts that are just `{name}` stand for arguments; without it all arguments are sent, except by GET
     * and DELETE.
     */
    body?: unknown;
    /** `{{secret.NAME}}` stands for a secret of the account. */
    headers?: Record<string, string>;
    /** A header with a value of its own for each function call; POST and PATCH are repeated only with it. */
    idempotency_header?: string;
    /** GET, POST, PUT, PATCH or DELETE. */
    method?: string;
    /** Secrets and arguments may stand in it. */
    query?: Record<string, string>;
    /** 0 to 2, when the service cannot be reached or is busy. */
    retries?: number;
    /** 100 to 30,000; 8,000. */
    timeout_ms?: number;
    /** An https address on the public Internet; `{name}` stands for an argument. */
    url?: string;
  };
  /** A server of the Model Context Protocol, over Streamable HTTP. */
  mcp?: {
    /** The tools that are offered; without it all. */
    allowed_tools?: Array<string>;
    /** `{{secret.NAME}}` stands for a secret of the account. */
    headers?: Record<string, string>;
    /** Of each call, 100 to 30,000; 8,000. */
    timeout_ms?: number;
    /** Its https address. */
    url?: string;
  };
  /** Of `http`: the function's name. Of `mcp`: what the names of its tools begin with. */
  name?: string;
  /**
   * Of `http` and `mcp`: `continue` or `cancel` when the caller interrupts; a GET is cancelled, everything else goes
   * on.
   */
  on_interrupt?: "continue" | "cancel";
  /** Of `http`: JSON Schema of its arguments, which are held to it. */
  parameters?: Record<string, unknown>;
  /** Who runs it: the client; a service of yours; the tools of an MCP server; a web search; the customer database. */
  type: "function" | "http" | "mcp" | "web_search" | "crm";
}>;

export interface AgentsOutputBody {
  /** Every agent of the account. */
  agents: Array<Agent>;
}

export interface AnswerSide {
  /** The model did not answer. */
  failed?: boolean;
  /** The functions that it calls, in their order. */
  functions: Array<ComparedFunction>;
  /** Its words. */
  text: string;
}

export interface Ask {
  /**
   * The name of the engine that speaks, of those of kind tts in GET /api/status/models; without it those that the
   * server uses speak. Only POST /tts/synthesize looks at it.
   */
  engine?: string;
  /** The same as language, which wins. */
  lang?: string;
  /** One of en es ca gl eu pt fr it de, a region behind it is ignored; there is no default. */
  language?: string;
  /** Pace; 1 is the voice's own. */
  speed?: number;
  /** Denoising steps, where the engine has them. The socket always uses 6 and ignores what is sent. */
  steps?: number;
  /** What to say; its length counts in Unicode code points. */
  text: string;
  /** Send mouth shapes, too. Only sockets can. */
  visemes?: boolean;
  /** F1 to F5 or M1 to M5; there is no default. */
  voice: string;
}

export interface AssignInputBody {
  /** An agent of the account; empty or null: nobody answers. */
  agent_id?: string | null;
  /**
   * How many calls the account places from it in an hour, in batches and one by one; 0: as many as it likes. Absent:
   * as before.
   */
  calls_per_hour?: number;
  /**
   * A webhook of the account that is asked about each call while it rings, with call.incoming; empty or null: none is.
   * Absent: as before.
   */
  webhook_id?: string | null;
}

export interface Attempt {
  /** The first kilobyte of its body. */
  answer?: string;
  /** When it was made. */
  at: string;
  /** Why there was no answer. */
  error?: string;
  /** How long the answer took. */
  latency_ms: number;
  /** Of the answer; 0: there was none. */
  status: number;
}

export interface AutoRecharge {
  /** What is charged each time. */
  amount: number;
  /** Whether there is a card to charge: the one that paid a top-up last is kept. */
  card_saved: boolean;
  /** What counts towards monthly_cap: charges that succeeded, and the one in progress. */
  charged_this_month: number;
  /** Whether the card is charged when the balance falls below threshold. */
  enabled: boolean;
  /** The top-up that is being charged; null when there is none. */
  in_progress: string | null;
  /** Why the last charge failed, or it was disabled; absent when it did not, or it was enabled again since. */
  last_failure?: RechargeFailure;
  /** The most of a calendar month, in UTC. */
  monthly_cap: number;
  /**
   * When the card may be charged again: ten minutes after a charge, longer after a failure; null: at once. A top-up
   * that is paid by hand ends the wait after a failure.
   */
  retry_at: string | null;
  /** A balance below it is recharged. */
  threshold: number;
}

export interface Balance {
  /** What sessions in progress have used and the ledger does not hold yet. */
  accrued: number;
  /** What the account has, sessions in progress counted. Show it rounded down to the cent. */
  balance: number;
  /** Of it, credit that expires. It is used first, and pays neither numbers nor outgoing calls. */
  bonus: number;
  /** The parts of bonus, soonest expiry first. */
  bonus_lots: Array<BonusLot>;
  /** Sessions at once. */
  concurrency: Concurrency;
  /** The currency of every amount. */
  currency: "USD";
  /** A payment is disputed: nothing starts. */
  disputed: boolean;
  /** Null before the first top-up: numbers and outgoing calls need one. */
  first_topup_at: string | null;
  /** Set aside for minutes and work about to begin; still part of balance. */
  held: number;
  /** What a session or a request needs to start. */
  min_session_start: number;
  /** How far below zero sessions in progress may go before they end. */
  overdraft: number;
  /** Of it, what was paid in; below zero in overdraft. */
  paid: number;
  /** What the ledger's last entry says: balance and accrued together. */
  posted: number;
  /** The operator has suspended the account: nothing starts. */
  suspended: boolean;
  /** The most urgent first; empty when all is well. */
  warnings: Array<Warning>;
}

export interface Batch {
  /** When people are called; absent: at any time. */
  call_window?: CallWindow;
  /** Calls by status; together the total. */
  counts: Counts;
  /** When it was queued. */
  created_at: string;
  /** Names the batch in paths. */
  id: string;
  metadata?: Metadata;
  /** As it was given; may be empty. */
  name: string;
  /** What a machine that answers gets. */
  on_machine: "continue" | "hangup" | "message";
  /** The retry rules, one for each outcome; absent: each number is called once. */
  retries?: Array<Retry> | null;
  /** done: every call has ended. */
  state: "running" | "paused" | "cancelled" | "done";
  /** How many calls it has, those that call again included. */
  total: number;
}

export interface BatchCheck {
  /** How many would be called. */
  good: number;
  /** What it costs when all who would be called talk for a minute each; every started minute of a line counts. */
  per_minute: number;
  /** All rows, in their order. */
  rows: Array<RowCheck>;
  /** How many would not: as long as there is one, the batch is refused. */
  wrong: number;
}

export interface BatchDetail {
  /** When people are called; absent: at any time. */
  call_window?: CallWindow;
  /** Calls by status; together the total. */
  counts: Counts;
  /** When it was queued. */
  created_at: string;
  /** Names the batch in paths. */
  id: string;
  metadata?: Metadata;
  /** As it was given; may be empty. */
  name: string;
  /** What a machine that answers gets. */
  on_machine: "continue" | "hangup" | "message";
  /** The retry rules, one for each outcome; absent: each number is called once. */
  retries?: Array<Retry> | null;
  /** Its calls, in the order in which they were given, behind them those that call again. */
  rows: Array<BatchRow>;
  /** done: every call has ended. */
  state: "running" | "paused" | "cancelled" | "done";
  /** How many calls it has, those that call again included. */
  total: number;
}

export interface BatchRow {
  /** The agent that speaks. */
  agent_id: string;
  /** When it was answered; null: it was not. */
  answered_at: string | null;
  /** Who answered; null: nobody, or it is not known yet. */
  answered_by: "human" | "machine" | "screening" | "unknown" | null;
  /** Which call of its callee it is, from 1. */
  attempt: number;
  /** Its call, for the monitor; null: it was not dialled. */
  call_id: string | null;
  /** What the call has cost so far, its summary included. */
  cost: number;
  /** Whole seconds since the answer; 0 before. */
  duration: number;
  /** The finer cause, if there is one. */
  end_detail: string | null;
  /** Why the call ended; null while it lasts, or when there was none. */
  end_reason: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown" | null;
  /** When the call ended; null while it lasts, or when there was none. */
  ended_at: string | null;
  /** Only when it failed: why. */
  error?: RowError;
  /** The number that the callee sees. */
  from: string;
  headers?: CallHeaders;
  /** Names the row. */
  id: string;
  metadata?: Metadata;
  /** The row after whose call this one calls again; absent: it is the first. */
  retry_of?: string;
  /** When it is to be called; null: at once. */
  scheduled_at: string | null;
  /** When it was dialled. */
  started_at: string | null;
  /** Status of the row. sent: the call was placed, whether or not it was answered. */
  status: "pending" | "dialing" | "sent" | "failed";
  /** The outcome of the call in a few sentences; null: there is no summary, or not yet. */
  summary: string | null;
  /** The number called, in international format. */
  to: string;
  /** Values of the agent's variables, as they were given for this call. */
  variables?: Record<string, string>;
}

export interface BatchesOutputBody {
  /** All of them, newest first. */
  batches: Array<Batch>;
}

export interface BonusLot {
  /** When the rest goes. */
  expires_at: string;
  /** How much it was. */
  granted: number;
  /** What is left of it. */
  left: number;
}

export interface BuyInputBody {
  /** An agent of the account; empty or null: nobody answers. */
  agent_id?: string | null;
  /** Exactly as the search has it. */
  phone_number: string;
}

export interface CallAnalysis {
  /** What was taken out of the transcript, as the agent's schema wants it; null likewise. */
  data: Record<string, unknown> | null;
  /** The same in a sentence, if there is more to say. */
  detail: string | null;
  /** When it was finished; null: it waits. */
  done_at: string | null;
  /**
   * Why it failed or was skipped: no language model answered; its answer did not fit the schema, twice; the balance
   * was used up; nothing was said; the agent's settings cannot be read; or the call was deleted.
   */
  reason: "engine" | "answer" | "balance" | "silence" | "schema" | "deleted" | null;
  /** Status of the analysis. failed: given up, though the summary may be there; skipped: not tried. */
  state: "waiting" | "done" | "failed" | "skipped";
  /** The outcome of the call in a few sentences; null: not asked for, or not there. */
  summary: string | null;
}

export interface CallAnalyzed {
  /** The agent that spoke; null when the client brought its own prompt. It may have been deleted since. */
  agent_id: string | null;
  /** The agent's version that it ran with; null when it had none. */
  agent_version: number | null;
  /** What the agent's language model made of it. */
  analysis: CallAnalysis;
  /** When it was answered and began to cost; null: never. */
  answered_at: string | null;
  /**
   * Who answered a call that an agent placed: a person, an answering machine, an assistant that screens calls, or
   * unknown; null: nobody answered, or the call came in.
   */
  answered_by: "human" | "machine" | "screening" | "unknown" | null;
  /**
   * How well the carrier where a call that came in began knows the caller (ATIS-1000074): A, it knows its customer and
   * that the number is theirs; B, it knows its customer; C, it knows neither. null: nobody says, or nobody vouches for
   * the trunk.
   */
  attestation: "A" | "B" | "C" | null;
  /** What it has cost so far. */
  cost: number;
  /** When it began to ring, to be dialled or to be set up. */
  created_at: string;
  /**
   * When its transcript and recording were deleted, on request or because the account had kept them long enough; null:
   * they were not.
   */
  deleted_at: string | null;
  /** It came with the demonstration: it was recorded on another server, and nobody called. Absent: somebody did. */
  demonstration?: boolean;
  /** Over a WebSocket, to one of the account's numbers, or placed by an agent. */
  direction: "web" | "inbound" | "outbound";
  /** Whole seconds since the answer; 0 before. */
  duration: number;
  /** The finer cause, if there is one. */
  end_detail: string | null;
  /** Why it ended; null while it lasts. */
  end_reason: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown" | null;
  /** Null while it lasts. */
  ended_at: string | null;
  /** Who called; empty on a WebSocket. */
  from: string;
  headers?: CallHeaders;
  /** Of the call and its session: the receipt has the same. */
  id: string;
  metadata?: Metadata;
  /** How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known. */
  mos: number | null;
  /** What somebody wrote about it; it is deleted with the transcript. */
  note?: string;
  /**
   * Where a call that came in was before, as the far end says; absent: it says nothing. It is deleted with the
   * transcript.
   */
  origin?: CallOrigin;
  /** Status of the call. */
  status: "dialing" | "ringing" | "connected" | "ended";
  /** What people call it. */
  tags?: Array<string>;
  /** Who was called. */
  to: string;
  /**
   * What the carrier of a call that came in says of the caller's number (ATIS-1000074), such as TN-Validation-Passed
   * or TN-Validation-Failed; null: nothing.
   */
  verstat: string | null;
  /**
   * What half of its turns took at most, from the caller's last word to the first audio, in milliseconds; absent: it
   * has none, lasts, or has just ended, and in events.
   */
  wait_p50_ms?: number;
}

export interface CallAsked {
  /** What went wrong; null: nothing. */
  error: string | null;
  /** Until its answer, or the failure, in milliseconds. */
  latency_ms: number;
  /**
   * answered: what it said counts. refused: it refused the call. failed: it did not answer in time, or not as it
   * should, and the number's own agent answered.
   */
  outcome: "answered" | "refused" | "failed";
  /** HTTP status of its answer; 0: there was none. */
  status: number;
  /** The webhook. It may have been deleted since. */
  webhook_id: string;
}

export interface CallBegun {
  /** The agent; null when the client brought its own prompt. */
  agent_id: string | null;
  /** When it was answered; not in call.started. */
  answered_at?: string;
  /** How well the carrier where it began knows the caller (ATIS-1000074); absent: nobody says. */
  attestation?: "A" | "B" | "C";
  /** When it began to ring, to be dialled or to be set up. */
  created_at: string;
  /** Over a WebSocket, to one of the account's numbers, or placed by an agent. */
  direction: "web" | "inbound" | "outbound";
  /** Who called; empty on a WebSocket. */
  from: string;
  headers?: CallHeaders;
  /** Of the call. */
  id: string;
  metadata?: Metadata;
  /** Where a call that came in was before, as the far end says; absent: it says nothing. */
  origin?: CallOrigin;
  /** Who was called. */
  to: string;
  /** What the carrier of a call that came in says of the caller's number (ATIS-1000074); absent: nothing. */
  verstat?: string;
}

export interface CallChange {
  /** Values that take the place of those of the same names; null takes a name away, and names that are absent stay. */
  metadata?: Record<string, string | null>;
  /** What somebody writes about it; empty: none. */
  note?: string;
  /** What people call it, in place of the tags that it has: 20 of 40 characters at most. */
  tags?: Array<string>;
}

export interface CallCompletion {
  /** What the model wrote, 32 kB at most. Not all of it was heard. */
  answer: string;
  /** Seconds from the answer of the call to the question. */
  at: number;
  /** The engine that answered, as settings of agents name it; null: not known. */
  engine: string | null;
  /** Why it failed; null: it did not. */
  failure: string | null;
  /**
   * Why the model stopped: it had said all, reached its limit, waits for functions, or its vendor held the rest back;
   * null: it does not say.
   */
  finish: "stop" | "length" | "tools" | "filter" | null;
  /** Milliseconds until its first words or function; null: there were none. */
  first_ms: number | null;
  /** The functions that it wanted to call. */
  functions: Array<CompletionFunction>;
  /** How many entries of the conversation the model was given. */
  message_count: number;
  /** Names it in its call: 0, 1, 2… */
  no: number;
  /**
   * pending: it is being answered, or the server was lost before. cut: nobody wanted the rest, as when the caller went
   * on.
   */
  outcome: "pending" | "done" | "cut" | "failed";
  /** Milliseconds until the answer was over; null: it is not. */
  took_ms: number | null;
}

export interface CallCompletionDetail {
  /** What the model wrote, 32 kB at most. Not all of it was heard. */
  answer: string;
  /** Seconds from the answer of the call to the question. */
  at: number;
  /** The engine that answered, as settings of agents name it; null: not known. */
  engine: string | null;
  /** Why it failed; null: it did not. */
  failure: string | null;
  /**
   * Why the model stopped: it had said all, reached its limit, waits for functions, or its vendor held the rest back;
   * null: it does not say.
   */
  finish: "stop" | "length" | "tools" | "filter" | null;
  /** Milliseconds until its first words or function; null: there were none. */
  first_ms: number | null;
  /** The functions that it wanted to call. */
  functions: Array<CompletionFunction>;
  /** The conversation as the model was given it. */
  messages: Array<CompletionMessage>;
  /** Names it in its call: 0, 1, 2… */
  no: number;
  /**
   * pending: it is being answered, or the server was lost before. cut: nobody wanted the rest, as when the caller went
   * on.
   */
  outcome: "pending" | "done" | "cut" | "failed";
  /** The prompt, with its variables filled in. */
  system: string;
  /** Milliseconds until the answer was over; null: it is not. */
  took_ms: number | null;
  /** The functions that it might call. */
  tools: Array<CompletionTool>;
}

export interface CallCompletions {
  /** The questions, the first one first. */
  data: Array<CallCompletion>;
}

export interface CallCut {
  /** When, in milliseconds since the answer: the caller spoke over it, hung up, or was connected to somebody. */
  at_ms: number;
  /** What the agent would have said further, as far as it was made: nobody heard it, and the model does not see it. */
  unheard: string;
}

export interface CallDetail {
  /** The agent that spoke; null when the client brought its own prompt. It may have been deleted since. */
  agent_id: string | null;
  /** The agent's version that it ran with; null when it had none. */
  agent_version: number | null;
  /** What the agent's language model made of it after its end; absent: the agent wants nothing of it. */
  analysis?: CallAnalysis;
  /** When it was answered and began to cost; null: never. */
  answered_at: string | null;
  /**
   * Who answered a call that an agent placed: a person, an answering machine, an assistant that screens calls, or
   * unknown; null: nobody answered, or the call came in.
   */
  answered_by: "human" | "machine" | "screening" | "unknown" | null;
  /** How the webhook of the called number was asked who answers; absent: it was not. */
  asked?: CallAsked;
  /**
   * How well the carrier where a call that came in began knows the caller (ATIS-1000074): A, it knows its customer and
   * that the number is theirs; B, it knows its customer; C, it knows neither. null: nobody says, or nobody vouches for
   * the trunk.
   */
  attestation: "A" | "B" | "C" | null;
  /** What it has cost so far. */
  cost: number;
  /** When it began to ring, to be dialled or to be set up. */
  created_at: string;
  /**
   * When its transcript and recording were deleted, on request or because the account had kept them long enough; null:
   * they were not.
   */
  deleted_at: string | null;
  /** It came with the demonstration: it was recorded on another server, and nobody called. Absent: somebody did. */
  demonstration?: boolean;
  /** Over a WebSocket, to one of the account's numbers, or placed by an agent. */
  direction: "web" | "inbound" | "outbound";
  /** Whole seconds since the answer; 0 before. */
  duration: number;
  /** The finer cause, if there is one. */
  end_detail: string | null;
  /** Why it ended; null while it lasts. */
  end_reason: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown" | null;
  /** Null while it lasts. */
  ended_at: string | null;
  /**
   * The engines that served it, in the order in which they began to: after the first come those that took over. Absent
   * when it is not known.
   */
  engines?: CallEngines;
  /** Who called; empty on a WebSocket. */
  from: string;
  /** The functions that its model called, in the order in which they began: the first 500. */
  functions: Array<CallFunction>;
  headers?: CallHeaders;
  /** Of the call and its session: the receipt has the same. */
  id: string;
  /** Who listened in on it, in the order in which they joined; absent: nobody. */
  listeners?: Array<CallListener>;
  metadata?: Metadata;
  /** How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known. */
  mos: number | null;
  /** What somebody wrote about it; it is deleted with the transcript. */
  note?: string;
  /**
   * Where a call that came in was before, as the far end says; absent: it says nothing. It is deleted with the
   * transcript.
   */
  origin?: CallOrigin;
  /** Its recording; absent: it was not recorded. */
  recording?: CallRecording;
  /** Status of the call. */
  status: "dialing" | "ringing" | "connected" | "ended";
  /** What people call it. */
  tags?: Array<string>;
  /** Who was called. */
  to: string;
  /** Who said what, in order. */
  transcript: Array<CallLine>;
  /** Lines that followed and were not kept: a transcript has 5,000 lines and about 512 kB at most. */
  transcript_omitted?: number;
  /** The response latency of each turn. */
  turns: Array<CallTurn>;
  /**
   * What the engines of vendors and language models used in it, and after it for its summary and what was extracted,
   * by engine and unit. Absent while it lasts, and when it is not known.
   */
  usage?: Array<EngineUsage>;
  /**
   * What the carrier of a call that came in says of the caller's number (ATIS-1000074), such as TN-Validation-Passed
   * or TN-Validation-Failed; null: nothing.
   */
  verstat: string | null;
  /**
   * What half of its turns took at most, from the caller's last word to the first audio, in milliseconds; absent: it
   * has none, lasts, or has just ended, and in events.
   */
  wait_p50_ms?: number;
}

export interface CallDiversion {
  /** Its name. */
  name?: string;
  /** Its number; empty: it is private. */
  number: string;
  /** Why, as the far end has it. */
  reason?: string;
}

export interface CallEngines {
  /** Recognition; empty: nothing was heard. */
  asr: Array<string>;
  /** The language model. */
  llm: Array<string>;
  /** The voice. */
  tts: Array<string>;
}

export interface CallFigures {
  /** That as a share of all, with four digits; null: there are no calls. */
  answer_rate: number | null;
  /** How many of them were answered; on a WebSocket, had a first prompt. */
  answered: number;
  /** How many have ended. */
  calls: number;
  /** What they have cost, with what was charged for them after their end. */
  cost: number;
  /** Seconds since their answers, all together. */
  duration: number;
}

export interface CallFunction {
  /** As the model wrote them, 4 kB at most; usually a JSON object. */
  arguments: string;
  /** When the model had its result; null: not yet, or the server was lost before. */
  end_ms: number | null;
  /** Unique in the call. */
  id: string;
  /** As the agent's tools have it. */
  name: string;
  /** How it went; null likewise: whether it was done is not known. */
  outcome: "ok" | "error" | "timeout" | "cancelled" | "unknown_tool" | null;
  /** As the model got it, secrets masked. Of a call with many long results the later ones are not kept. */
  result: string | null;
  /** Who runs it: this server, or the client of the conversation. */
  run_by: "server" | "client";
  /** When it was called, in milliseconds since the answer. */
  start_ms: number;
  /** The caller's turn in which it was called. */
  turn: number;
}

/**
 * Headers of the call's INVITE that programs of either side use: X- headers, and User-to-User (RFC 7433), as text
 * where that can be read; 20 of 512 bytes each, 4096 in all. Of a call that comes in they are what the far end wrote:
 * nobody vouches for them. They are deleted with the transcript.
 */
export type CallHeaders = Record<string, string>;

export interface CallLine {
  /** Seconds since the answer: when the agent's line was over, or the caller's was taken to be. */
  at: number;
  /** The agent was cut off here; absent: it was not. */
  interrupted?: CallCut;
  /** Who said it: supervisor is a person who spoke in the agent's place. */
  role: "user" | "agent" | "supervisor";
  /** The words; of the agent's those that were heard. */
  text: string;
  /**
   * The words of the text, in order, and when they were said. Absent: they were typed, or the line is of a call before
   * they were kept.
   */
  words?: Array<CallWord> | null;
  /**
   * The times of the words are an estimate, of some or of all: the speech recognition or the voice gave none. The
   * words then share the caller's speech, pauses left out, or the audio of the sentence, by their length.
   */
  words_estimated?: boolean;
}

export interface CallListener {
  /** The user, the account's key, or the agent whose settings send its calls on. */
  by: string;
  /** The user's address; null: it was none, or they are gone. */
  email: string | null;
  /** Why a stream could not begin, or ended before the call; null: neither. */
  failure: string | null;
  /** The host to which a stream of the call went for them; null: they heard it themselves. */
  host: string | null;
  /** The identifier of this part in the call; of a stream its own. */
  id: string;
  /** When they began. */
  joined_at: string;
  /** When they stopped; null: they have not, or their server was lost. */
  left_at: string | null;
  /** When they first spoke in the agent's place; null: they have not. */
  spoke_at: string | null;
}

export interface CallOrigin {
  /** Who has sent the call on, the last first (Diversion, RFC 5806): 16 at most. */
  diversions?: Array<CallDiversion>;
  /** The telephone that has sent the call on to this number last; absent: the call came directly, or nobody says. */
  diverted_by?: string;
  /** The number that the caller has dialled, where the call was sent on. */
  first_called?: string;
  /** Where the call was sent to, in order (History-Info, RFC 7044): 16 at most. */
  history?: Array<CallStation>;
  /** Identifies where the call entered the network of the carrier that attests the caller. */
  orig_id?: string;
}

export interface CallOver {
  /** The agent that spoke; null when the client brought its own prompt. It may have been deleted since. */
  agent_id: string | null;
  /** The agent's version that it ran with; null when it had none. */
  agent_version: number | null;
  /** When it was answered and began to cost; null: never. */
  answered_at: string | null;
  /**
   * Who answered a call that an agent placed: a person, an answering machine, an assistant that screens calls, or
   * unknown; null: nobody answered, or the call came in.
   */
  answered_by: "human" | "machine" | "screening" | "unknown" | null;
  /**
   * How well the carrier where a call that came in began knows the caller (ATIS-1000074): A, it knows its customer and
   * that the number is theirs; B, it knows its customer; C, it knows neither. null: nobody says, or nobody vouches for
   * the trunk.
   */
  attestation: "A" | "B" | "C" | null;
  /** What it has cost so far. */
  cost: number;
  /** When it began to ring, to be dialled or to be set up. */
  created_at: string;
  /**
   * When its transcript and recording were deleted, on request or because the account had kept them long enough; null:
   * they were not.
   */
  deleted_at: string | null;
  /** It came with the demonstration: it was recorded on another server, and nobody called. Absent: somebody did. */
  demonstration?: boolean;
  /** Over a WebSocket, to one of the account's numbers, or placed by an agent. */
  direction: "web" | "inbound" | "outbound";
  /** Whole seconds since the answer; 0 before. */
  duration: number;
  /** The finer cause, if there is one. */
  end_detail: string | null;
  /** Why it ended; null while it lasts. */
  end_reason: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown" | null;
  /** Null while it lasts. */
  ended_at: string | null;
  /** Who called; empty on a WebSocket. */
  from: string;
  headers?: CallHeaders;
  /** Of the call and its session: the receipt has the same. */
  id: string;
  metadata?: Metadata;
  /** How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known. */
  mos: number | null;
  /** What somebody wrote about it; it is deleted with the transcript. */
  note?: string;
  /**
   * Where a call that came in was before, as the far end says; absent: it says nothing. It is deleted with the
   * transcript.
   */
  origin?: CallOrigin;
  /** Status of the call. */
  status: "dialing" | "ringing" | "connected" | "ended";
  /** What people call it. */
  tags?: Array<string>;
  /** Who was called. */
  to: string;
  /** How often the agent answered. */
  turn_count: number;
  /**
   * What the carrier of a call that came in says of the caller's number (ATIS-1000074), such as TN-Validation-Passed
   * or TN-Validation-Failed; null: nothing.
   */
  verstat: string | null;
  /**
   * What half of its turns took at most, from the caller's last word to the first audio, in milliseconds; absent: it
   * has none, lasts, or has just ended, and in events.
   */
  wait_p50_ms?: number;
}

export interface CallPoints {
  /**
   * The last of the caller's words was recognised for good; null: the turn was typed, or answered before. Below 0 when
   * the recognition was ahead of the caller's last sound.
   */
  final_text_ms: number | null;
  /** The voice gave its first audio. */
  first_audio_ms: number | null;
  /** The first of it was sent to the caller. */
  first_packet_ms: number | null;
  /** Its first sentence was complete, and went to the voice. */
  first_sentence_ms: number | null;
  /**
   * The language model wrote its first words. It may have been asked before the turn was over. Of a reply that follows
   * a function, the words after it.
   */
  first_token_ms: number | null;
  /**
   * When the caller's speech ended, in milliseconds since the answer; of a typed turn, when it was typed. The other
   * points are milliseconds after it.
   */
  speech_end_ms: number;
}

export interface CallQuality {
  /**
   * Whether there is something to say: false before a call is answered and for one over a WebSocket; then all else is
   * 0.
   */
  available: boolean;
  /** Audio made up in place of lost packets. */
  concealed_ms: number;
  /** Whether the audio was encrypted (SRTP). */
  encrypted: boolean;
  /** Interarrival jitter at the end (RFC 3550 section 6.4.1). */
  jitter_ms: number;
  /** packets_lost as a share of what was sent, 0 to 1. */
  loss: number;
  /**
   * Mean score of the worse direction, what the agent heard or what this server sent in time, 1 to 4.4 (ITU-T G.107);
   * 0 when nothing came.
   */
  mos: number;
  /** The score of its worst 5 seconds. */
  mos_min: number;
  /** From addresses that are not the far end's, dropped. */
  packets_foreign: number;
  /** Those of them that came too late. */
  packets_late: number;
  /** Never heard: lost on the way, or too late. */
  packets_lost: number;
  /** Without duplicates. */
  packets_received: number;
  /** To the far end. */
  packets_sent: number;
  /** Those of them that this server sent more than 40 ms after they were due, which most telephones play no more. */
  packets_sent_late: number;
  /** Those that it did not send because it was too busy. */
  packets_unsent: number;
  /** The far end's jitter, likewise. */
  remote_jitter_ms: number;
  /** The share of them that the far end lost, in its last report. */
  remote_loss: number;
  /** Round trip of the last reports. */
  rtt_ms: number;
}

export interface CallRecording {
  /** Size of the file. */
  bytes: number;
  /** When it was deleted; null: it was not. */
  deleted_at: string | null;
  /** Somebody's request, or because the account had kept it long enough. */
  deleted_by: "request" | "expiry" | null;
  /** Seconds; 0 before it has ended. */
  duration: number;
  /** Until when it is kept; null: it is not any more. */
  expires_at: string | null;
  /** What it is kept as; null until it is ready. */
  format: "ogg" | "wav" | null;
  /** Status of the recording; failed has no audio. */
  state: "recording" | "encoding" | "ready" | "failed" | "deleted";
}

export interface CallSaid {
  /** The agent that spoke; null when the client brought its own prompt. It may have been deleted since. */
  agent_id: string | null;
  /** The agent's version that it ran with; null when it had none. */
  agent_version: number | null;
  /** When it was answered and began to cost; null: never. */
  answered_at: string | null;
  /**
   * Who answered a call that an agent placed: a person, an answering machine, an assistant that screens calls, or
   * unknown; null: nobody answered, or the call came in.
   */
  answered_by: "human" | "machine" | "screening" | "unknown" | null;
  /**
   * How well the carrier where a call that came in began knows the caller (ATIS-1000074): A, it knows its customer and
   * that the number is theirs; B, it knows its customer; C, it knows neither. null: nobody says, or nobody vouches for
   * the trunk.
   */
  attestation: "A" | "B" | "C" | null;
  /** What it has cost so far. */
  cost: number;
  /** When it began to ring, to be dialled or to be set up. */
  created_at: string;
  /**
   * When its transcript and recording were deleted, on request or because the account had kept them long enough; null:
   * they were not.
   */
  deleted_at: string | null;
  /** It came with the demonstration: it was recorded on another server, and nobody called. Absent: somebody did. */
  demonstration?: boolean;
  /** Over a WebSocket, to one of the account's numbers, or placed by an agent. */
  direction: "web" | "inbound" | "outbound";
  /** Whole seconds since the answer; 0 before. */
  duration: number;
  /** The finer cause, if there is one. */
  end_detail: string | null;
  /** Why it ended; null while it lasts. */
  end_reason: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown" | null;
  /** Null while it lasts. */
  ended_at: string | null;
  /** Who called; empty on a WebSocket. */
  from: string;
  headers?: CallHeaders;
  /** Of the call and its session: the receipt has the same. */
  id: string;
  metadata?: Metadata;
  /** How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known. */
  mos: number | null;
  /** What somebody wrote about it; it is deleted with the transcript. */
  note?: string;
  /**
   * Where a call that came in was before, as the far end says; absent: it says nothing. It is deleted with the
   * transcript.
   */
  origin?: CallOrigin;
  /** Status of the call. */
  status: "dialing" | "ringing" | "connected" | "ended";
  /** What a language model made of the transcript. */
  summary: string;
  /** What people call it. */
  tags?: Array<string>;
  /** Who was called. */
  to: string;
  /**
   * What the carrier of a call that came in says of the caller's number (ATIS-1000074), such as TN-Validation-Passed
   * or TN-Validation-Failed; null: nothing.
   */
  verstat: string | null;
  /**
   * What half of its turns took at most, from the caller's last word to the first audio, in milliseconds; absent: it
   * has none, lasts, or has just ended, and in events.
   */
  wait_p50_ms?: number;
}

export interface CallState {
  /** Who answered, once it is known: at most four seconds after the answer. */
  answered_by?: "human" | "machine" | "screening" | "unknown";
  /** Whole seconds since the answer; 0 before. */
  duration: number;
  /** The finer cause, if there is one. */
  end_detail?: string;
  /** Why it ended. */
  end_reason?: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown";
  /** Status of the call. It only goes forward; a state may be skipped. */
  status: "dialing" | "ringing" | "connected" | "ended";
  /** The words so far. */
  transcript: Array<SpokenLine>;
}

export interface CallStation {
  /** The code of SIP for which the call was sent there, or went on from there. */
  cause?: number;
  /** Its place in the tree of RFC 7044. */
  index: string;
  /** Its name. */
  name?: string;
  /** The number, or another user; empty: it is private. */
  number: string;
}

export interface CallSummary {
  /** The agent that spoke; null when the client brought its own prompt. It may have been deleted since. */
  agent_id: string | null;
  /** The agent's version that it ran with; null when it had none. */
  agent_version: number | null;
  /** When it was answered and began to cost; null: never. */
  answered_at: string | null;
  /**
   * Who answered a call that an agent placed: a person, an answering machine, an assistant that screens calls, or
   * unknown; null: nobody answered, or the call came in.
   */
  answered_by: "human" | "machine" | "screening" | "unknown" | null;
  /**
   * How well the carrier where a call that came in began knows the caller (ATIS-1000074): A, it knows its customer and
   * that the number is theirs; B, it knows its customer; C, it knows neither. null: nobody says, or nobody vouches for
   * the trunk.
   */
  attestation: "A" | "B" | "C" | null;
  /** What it has cost so far. */
  cost: number;
  /** When it began to ring, to be dialled or to be set up. */
  created_at: string;
  /**
   * When its transcript and recording were deleted, on request or because the account had kept them long enough; null:
   * they were not.
   */
  deleted_at: string | null;
  /** It came with the demonstration: it was recorded on another server, and nobody called. Absent: somebody did. */
  demonstration?: boolean;
  /** Over a WebSocket, to one of the account's numbers, or placed by an agent. */
  direction: "web" | "inbound" | "outbound";
  /** Whole seconds since the answer; 0 before. */
  duration: number;
  /** The finer cause, if there is one. */
  end_detail: string | null;
  /** Why it ended; null while it lasts. */
  end_reason: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown" | null;
  /** Null while it lasts. */
  ended_at: string | null;
  /** Who called; empty on a WebSocket. */
  from: string;
  headers?: CallHeaders;
  /** Of the call and its session: the receipt has the same. */
  id: string;
  metadata?: Metadata;
  /** How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known. */
  mos: number | null;
  /** What somebody wrote about it; it is deleted with the transcript. */
  note?: string;
  /**
   * Where a call that came in was before, as the far end says; absent: it says nothing. It is deleted with the
   * transcript.
   */
  origin?: CallOrigin;
  /** Status of the call. */
  status: "dialing" | "ringing" | "connected" | "ended";
  /** What people call it. */
  tags?: Array<string>;
  /** Who was called. */
  to: string;
  /**
   * What the carrier of a call that came in says of the caller's number (ATIS-1000074), such as TN-Validation-Passed
   * or TN-Validation-Failed; null: nothing.
   */
  verstat: string | null;
  /**
   * What half of its turns took at most, from the caller's last word to the first audio, in milliseconds; absent: it
   * has none, lasts, or has just ended, and in events.
   */
  wait_p50_ms?: number;
}

export interface CallTurn {
  /** When the reply was first heard, since the answer. */
  at_ms: number;
  /** From the caller's last word to the decision that they have finished. */
  endpoint_ms: number;
  /** Of the reply. */
  generation: number;
  /** The wait for the model after that, until its first words; little when the reply was speculative. */
  model_ms: number;
  /** The six points of the turn; absent in calls of before they were kept. */
  points?: CallPoints;
  /** From the last word to the first audio. What the other three do not add up to is the server's own time. */
  total_ms: number;
  /** 1, 2, 3… */
  turn: number;
  /** The wait after them, for the rest of the first sentence and the first audio. */
  voice_ms: number;
}

export interface CallWindow {
  /** When it ends; before the start, it goes on past midnight. */
  end: string;
  /** When it begins, by a clock of 24 hours. */
  start: string;
  /**
   * By whose clocks: a time zone as IANA names it, or destination, where the number called is. Where a number may be
   * in several zones, it must be within the window in all of them.
   */
  timezone: string;
}

export interface CallWord {
  /** When it was over. */
  end_ms: number;
  /** When it began, in milliseconds since the answer. */
  start_ms: number;
  /** As it stands in the line. */
  text: string;
}

export interface CanceledOutputBody {
  /** Always canceled. */
  status: "canceled";
  /** The task; it is not known any more. */
  task_id: string;
}

export interface Case {
  /** When it was made. */
  created_at: string;
  /** Names it. */
  id: string;
  /** What it is called, 100 characters at most; no other case of the agent has it. */
  name: string;
  /** What the caller does and what is expected of the agent, as `parley simulate --schema` describes it; 64 kB at most. */
  script: Record<string, unknown>;
  /** When it was changed last. */
  updated_at: string;
}

export interface CaseDraft {
  /** What it is called, 100 characters at most; no other case of the agent has it. */
  name: string;
  /** What the caller does and what is expected of the agent, as `parley simulate --schema` describes it; 64 kB at most. */
  script: Record<string, unknown>;
}

export interface Change {
  /** What it is; absent: it is not there. */
  after?: unknown;
  /** What it was; absent: it was not there. */
  before?: unknown;
  /** The field. */
  path: string;
}

export interface ChangeInputBody {
  /** What it is for. */
  description?: string;
  /** Whether events are sent to it. */
  enabled?: boolean;
  /** The types of events that it wants; an empty list: all. */
  events?: Array<string>;
  /** Where events are sent. */
  url?: string;
}

export interface ChangedUser {
  /** When they were made. */
  created_at: string;
  /** Since when they may not sign in; null: they may. */
  disabled_at: string | null;
  /** With which they sign in. */
  email: string;
  /** Names them in requests. */
  id: string;
  /** The keys that they made and that were good, the newest first; revoked_at is null of those that still are. */
  keys: Array<APIKey>;
  /** An operator looks after all accounts, a member has only their own. */
  role: "operator" | "member";
  /** When they signed in last; null: never. */
  signed_in_at: string | null;
}

export interface Check {
  /** What was found. */
  detail: string;
  /** What to do about it; empty when it is ok. */
  fix: string;
  /** What was looked at. */
  name: string;
  /** warn: it works with a restriction. */
  status: "ok" | "warn" | "fail";
}

export interface CheckList {
  /** All checks. */
  data: Array<Check>;
}

export interface ComparedAnswer {
  /** Now says or calls something else than then, or without that than the call. */
  differs: boolean;
  /** What the caller said. */
  heard: string;
  /** What it does in the version, or the draft, that is compared. */
  now: AnswerSide;
  /** What the agent did in the call: its words as far as they were heard. */
  recorded: AnswerSide;
  /** What it does in the version compared with; absent: it is compared with the calls as they were. */
  then?: AnswerSide;
  /** From 1; 0 is the first message. */
  turn: number;
}

export interface ComparedCall {
  /** The version of the agent that it ran with; null: not known. */
  agent_version: number | null;
  /**
   * What the models say in each turn of the recorded call, up to where another agent took it over; empty: they were
   * not asked.
   */
  answers: Array<ComparedAnswer>;
  /** The call. */
  call_id: string;
  /** Why it would end. */
  ended_now?: string;
  /** Why it ended; absent: that was not kept. */
  ended_then?: string;
  /**
   * Whether anything differs; unreadable when what is kept of the call cannot be conducted again, skipped when there
   * was no time for it.
   */
  outcome: "same" | "differs" | "unreadable" | "skipped";
  /** When it began. */
  started_at: string;
  /** The turns that differ. */
  turns: Array<ComparedTurn>;
  /** How many turns there are, in one of the two or in both. */
  turns_total: number;
  /** Replies that the record has no words for: a sentence of the same kind stands in for each. */
  unheard?: number;
}

export interface ComparedFunction {
  /** What it is called with, JSON. */
  arguments?: string;
  /** Its name. */
  name: string;
  /**
   * It was called so in the recorded turn, and its result was given again. False: it would be called, and the answer
   * ends there.
   */
  recorded: boolean;
}

export interface ComparedTurn {
  /** As it would be; null: there would be no such turn. */
  now: TurnSide;
  /** As it was, or is with the version compared with; null: there was no such turn. */
  then: TurnSide;
}

export interface Comparison {
  /** The calls, the newest first; empty: none of the agent's latest was recorded. */
  calls: Array<ComparedCall>;
  /** Tokens that the models have read. */
  in_tokens: number;
  /** Turns that the models were not asked about. */
  left_out: number;
  /** Tokens that they have written. */
  out_tokens: number;
  /**
   * Why turns were left out: there are more than 100, the time was over, or the balance or a limit of spending was
   * used up.
   */
  stopped?: "turns" | "time" | "balance";
}

export interface CompletionFunction {
  /** As the model wrote them. */
  arguments: string;
  /** As the model names the call. */
  id: string;
  /** The function. */
  name: string;
}

export interface CompletionMessage {
  /** Of a result: the call that it is of. */
  function_id?: string;
  /** The functions that the agent called here. */
  functions?: Array<CompletionFunction>;
  /** The agent was cut off here. */
  interrupted?: boolean;
  /** Who said it; tool: the result of a function. */
  role: "user" | "agent" | "tool";
  /** The words, of the agent's those that were heard; or the result. */
  text: string;
}

export interface CompletionTool {
  /** What the model knows of it. */
  description: string;
  /** The function. */
  name: string;
  /** JSON Schema of its arguments; absent: it has none. */
  parameters?: unknown;
}

export interface Concurrency {
  /** How many there may be at once. */
  limit: number;
  /** Sessions in progress. */
  live: number;
}

export interface Consent {
  /** Your account. */
  account_id: string;
  /** The agent that spoke. */
  agent_id: string;
  /** When it was confirmed. */
  at: string;
  /** The call that was placed. */
  call_id: string;
  /** Where the request came from. */
  ip: string;
  /** The API key that confirmed it, or stands behind the ticket that did. */
  key_id: string;
  /** 1, 2, 3… without gaps. */
  no: number;
  /** Vouches for this row and all before it. */
  seal: string;
  /** Stands for the number called; the same for each call to it. */
  to_hash: string;
}

export interface Counts {
  /** Being dialled. */
  dialing: number;
  /** Not placed, as error says. */
  failed: number;
  /** Not dialled yet. */
  pending: number;
  /** Placed: answered or not, as end_reason says. */
  sent: number;
}

export interface CreatedAccount {
  /** With create_key: a key of the account with the role owner, shown this once. */
  api_key?: string;
  /** In US dollars, sessions in progress counted. */
  balance: number;
  /** Sessions at once, where an operator has set that; null: as the rate card says. */
  concurrency: number | null;
  /**
   * How long the contents of calls are kept: transcripts, summaries, and recordings at the longest; null: until
   * somebody deletes it.
   */
  conversation_days: number | null;
  /** When it was made. */
  created_at: string;
  /** Where warnings are mailed; empty: nowhere. */
  email: string;
  /** Null before the first top-up. */
  first_topup_at: string | null;
  /** Names the account in requests. */
  id: string;
  /** Sessions in progress. */
  live: number;
  /** Who belongs to it, owners first; empty: it is used by its keys alone. */
  members: Array<Member>;
  /** For people. */
  name: string;
  /** Payments that are disputed: while there is one, nothing starts. */
  open_disputes: number;
  /** How long recordings of calls are kept. */
  recording_days: number;
  /** What the rate card says. */
  standard_concurrency: number;
  /** By an operator: nothing starts. */
  suspended: boolean;
}

export interface CreatedInvitation {
  /** When it was made. */
  created_at: string;
  /** Whom it is for. */
  email: string;
  /** Until when its link is good. */
  expires_at: string;
  /** Names it in requests; it is no secret. */
  id: string;
  /** The address of who invited them; null: an API key, or somebody who is no longer there. */
  invited_by: string | null;
  /** What they will be. */
  role: "owner" | "member";
  /** The link to send to them, shown this once. */
  url: string;
}

export interface CreatedKey {
  /** The key itself, shown this once. */
  api_key: string;
  /** When it was made. */
  created_at: string;
  /**
   * Identifier of the user, or of the account's key, that made it; null: it was made on the server, or before this was
   * noted.
   */
  created_by: string | null;
  /** The user's address; null: it was no user, or they are gone. */
  created_by_email: string | null;
  /** Names the key in requests; it is no secret. */
  id: string;
  /** The key's last four characters. */
  last4: string;
  /** To the minute; null: never. */
  last_used_at: string | null;
  /** Whether it may listen in on calls. */
  listen: boolean;
  /** Whether it may change what is paid: automatic recharge, limits of spending. */
  money: boolean;
  /** What it is for. */
  name: string;
  /** Null while it is good. */
  revoked_at: string | null;
  /**
   * What it may do: a member's key all but members, an owner's all. Changes of what is paid need the mark money as
   * well.
   */
  role: "member" | "owner";
  /** Whether it may speak in calls, too. */
  speak: boolean;
}

export interface DayFigures {
  /** That as a share of all, with four digits; null: there are no calls. */
  answer_rate: number | null;
  /** How many of them were answered; on a WebSocket, had a first prompt. */
  answered: number;
  /** How many have ended. */
  calls: number;
  /** What they have cost, with what was charged for them after their end. */
  cost: number;
  /** On which they began, UTC. */
  day: string;
  /** Seconds since their answers, all together. */
  duration: number;
  /**
   * Half of their turns waited no longer from the caller's last word to the first audio, in milliseconds, within 4.5
   * %; null: no turn was answered.
   */
  p50_ms: number | null;
  /** 95 of a hundred, likewise. */
  p95_ms: number | null;
}

export interface Delivery {
  /** The call, or the event of the account; of a test the event itself. */
  about: string;
  /** The last twenty, oldest first. */
  attempts: Array<Attempt>;
  /** When it happened. */
  created_at: string;
  /** When it arrived or was given up; null while it is on its way. */
  ended_at: string | null;
  /** Of the event, and in the header webhook-id. */
  id: string;
  /** When it is tried next; null: never. */
  next_at: string | null;
  /** Pending, delivered or given up. */
  state: "pending" | "delivered" | "failed";
  /** What happened. */
  type: string;
}

export interface DoNotCall {
  /** The call in which it was asked for; null when it was in none. */
  call_id: string | null;
  /** In international format. */
  number: string;
  /** Why, in somebody's words; may be empty. */
  reason: string;
  /** When it was put there. */
  since: string;
  /**
   * Who put it on the list: a client of this interface, an agent that was asked to, the operator, or the number
   * itself, with a text message such as STOP.
   */
  source: "api" | "agent" | "operator" | "message";
}

export interface EngineFault {
  /** As of any error: engine.key_refused when the vendor refuses the key. */
  code: string;
  /** What the vendor said, where it is a refusal. */
  detail?: string;
  /** The same for people. */
  error: string;
  /** Whether the same may work later. */
  retryable: boolean;
}

export interface EngineKey {
  /** When the engine got its first key. */
  created_at: string;
  /** The engine, as settings of agents name it. */
  engine: string;
  /** The last characters of the key, which is never shown. */
  last4: string;
  /** What the vendor said then; null likewise. */
  refusal: string | null;
  /** When the vendor refused it: it is not used any more. Null: it has not. */
  refused_at: string | null;
  /** The user or the API key of the account that set it. */
  set_by: string;
  /** When this one was set. */
  updated_at: string;
}

export interface EngineLatency {
  /** How many calls had such turns. */
  calls: number;
  /** The engine, as settings of agents name it. */
  engine: string;
  /** Half of the turns waited no longer, in milliseconds. */
  p50_ms: number;
  /** 95 of a hundred. */
  p95_ms: number;
  /**
   * llm: from the decision that the caller has finished to the model's first words, little where the reply was
   * speculative. tts: from the first whole sentence to the voice's first audio.
   */
  stage: "llm" | "tts";
  /** How many they had. */
  turns: number;
}

export interface EngineLatencyList {
  /** The engines that have turns, by stage and name. */
  data: Array<EngineLatency>;
  /** Not before this. */
  from: string;
  /** Before this. */
  to: string;
}

export interface EngineTest {
  /** Why it does not; absent: it does. */
  error?: EngineFault;
  /** The engine works with the key. */
  ok: boolean;
  /** How long that took, in milliseconds. */
  took_ms: number;
}

export interface EngineTotal {
  /** What the vendor charges the operator, who alone sees it, where the server's settings say that. */
  cost?: number;
  /** The engine, as settings of agents name it. */
  engine: string;
  /** Whose key it worked with; the operator's also where it needs none. */
  key_owner: "operator" | "account";
  /** Its model; null: the vendor's usual one, or it has none. */
  model: string | null;
  /**
   * What you pay for it, 0 on your own key unless the rate card says otherwise; null: it is part of the price of the
   * call or the work.
   */
  price: number | null;
  /** How many; of seconds with three digits. */
  quantity: number;
  /** In how many calls and other sessions that was. */
  sessions: number;
  /** Who counted: the vendor, or this server. */
  source: "provider" | "counted";
  /** What it does: hears, answers, speaks, or all three. */
  stage: "asr" | "llm" | "tts" | "realtime";
  /**
   * What is counted. tokens_in are those that were read for the first time, tokens_in_cached those from the vendor's
   * cache.
   */
  unit: "audio_seconds" | "open_seconds" | "characters" | "requests" | "tokens_in" | "tokens_in_cached" | "tokens_in_audio" | "tokens_in_audio_cached" | "tokens_out" | "tokens_out_audio";
}

export interface EngineTotals {
  /** By engine and unit; empty: none was used. */
  data: Array<EngineTotal>;
  /** Null: since the first session. */
  from: string | null;
  /** Null: until now. */
  to: string | null;
}

export interface EngineUsage {
  /** What the vendor charges the operator, who alone sees it, where the server's settings say that. */
  cost?: number;
  /** The engine, as settings of agents name it. */
  engine: string;
  /** Whose key it worked with; the operator's also where it needs none. */
  key_owner: "operator" | "account";
  /** Its model; null: the vendor's usual one, or it has none. */
  model: string | null;
  /**
   * What you pay for it, 0 on your own key unless the rate card says otherwise; null: it is part of the price of the
   * call or the work.
   */
  price: number | null;
  /** How many; of seconds with three digits. */
  quantity: number;
  /** Who counted: the vendor, or this server. */
  source: "provider" | "counted";
  /** What it does: hears, answers, speaks, or all three. */
  stage: "asr" | "llm" | "tts" | "realtime";
  /**
   * What is counted. tokens_in are those that were read for the first time, tokens_in_cached those from the vendor's
   * cache.
   */
  unit: "audio_seconds" | "open_seconds" | "characters" | "requests" | "tokens_in" | "tokens_in_cached" | "tokens_in_audio" | "tokens_in_audio_cached" | "tokens_out" | "tokens_out_audio";
}

export interface Entry {
  /** What was added to the balance; below zero when it was taken. */
  amount: number;
  /** When it was posted. */
  at: string;
  /** Without what sessions in progress have used. */
  balance_after: number;
  /**
   * Of usage: what was used; message is segments of text messages, number is a month of a number, above zero when it
   * was given back.
   */
  component: string | null;
  /** 1, 2, 3… without gaps. */
  id: number;
  /**
   * Why the balance moved: topup, refund, dispute, welcome, bonus, adjustment, usage, expiry…; there may be more
   * kinds.
   */
  kind: string;
  /** What was paid in, or credit that expires. */
  pot: "paid" | "bonus";
  /** Of usage: the rate card that it was charged by. */
  price_version: string | null;
  /** Of usage: the call or other session, see its receipt; null for a number. */
  session_id: string | null;
}

export interface Error {
  /** One of a fixed list; programs decide by it. */
  code: string;
  /** What exactly was wrong, when there is more to say. */
  detail?: string;
  /** The same for people. */
  error: string;
  /** Names the request, as the header X-Request-Id does: quote it to the server's operator. */
  request_id?: string;
  /** Whether the same request may succeed later. */
  retryable: boolean;
}

export interface EventAccountEvent {
  /** What it happened to. */
  data: AccountEvent;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface EventCallAnalyzed {
  /** What it happened to. */
  data: CallAnalyzed;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface EventCallBegun {
  /** What it happened to. */
  data: CallBegun;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface EventCallDetail {
  /** What it happened to. */
  data: CallDetail;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface EventCallOver {
  /** What it happened to. */
  data: CallOver;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface EventCallSaid {
  /** What it happened to. */
  data: CallSaid;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface EventFigures {
  /** Of a number's month, a recharge or a dispute. */
  amount?: number;
  /** The attempt to recharge. */
  attempt?: string;
  /** What there was when it was noticed. */
  balance?: number;
  /** Automatic recharge is off now. */
  disabled?: boolean;
  /** What the payment provider or the operator calls the dispute. */
  dispute?: string;
  /** When the number's month was to be paid. */
  due_at?: string;
  /** The engine whose vendor refused the account's key. */
  engine?: string;
  /** What may be spent in a day (UTC). */
  limit?: number;
  /** The number. */
  number?: string;
  /** The number's identifier. */
  number_id?: string;
  /**
   * Why the recharge failed, in the payment provider's word; of a webhook failing or gone; of an engine's key what the
   * vendor said.
   */
  reason?: string;
  /** When the number goes, or went. */
  release_at?: string;
  /** What was spent of it, with what was held, when it was noticed. */
  spent?: number;
  /** Whose limit of spending it is: the account, a key or an agent. */
  subject?: string;
  /** The balance below which it is low. */
  threshold?: number;
  /** The webhook that is disabled. */
  webhook?: string;
}

export interface EventIncomingCall {
  /** What it happened to. */
  data: IncomingCall;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface EventMessage {
  /** What it happened to. */
  data: Message;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface EventTestData {
  /** What it happened to. */
  data: TestData;
  /** Names the event; the header webhook-id holds the same, at every attempt. */
  id: string;
  /** When it happened. */
  timestamp: string;
  /** What happened. */
  type: string;
}

export interface FunctionTest {
  /** Whether it answered, failed, or took too long. */
  outcome: "ok" | "error" | "timeout";
  /** What the model would read: of a request JSON with the status and the body of the answer, or the error. */
  result: string;
  /** How long that took, in milliseconds. */
  took_ms: number;
}

export interface FunctionTestInputBody {
  /** What the model would call it with; absent: nothing. */
  arguments?: Record<string, unknown>;
  /** The function; of an MCP server with the name of the entry before it. */
  name: string;
  tools: AgentTools;
}

export interface HealthReport {
  /** The primary engines. */
  inference: string;
  /** How much of what the server can take it has; without a key in tenths. */
  load: number;
  /** What the program was built with, and for; without a key its name alone. */
  runtime: string;
  /** ok when conversations can start. */
  status: "ok" | "warming_up";
  /** When this was found out. */
  timestamp: string;
  /** The version of the program; without a key that of the API. */
  version: string;
}

export interface HungUp {
  /** The call. */
  call_id: string;
  /** ended. */
  status: "ended";
}

export interface IncomingAnswer {
  /** The agent of the account that answers; absent: the number's own. */
  agent_id?: string;
  metadata?: Metadata;
  /** true: the call is refused (603), and nothing else counts. */
  refuse?: boolean;
  /** Values of the variables that the agent's settings name; of the others their defaults count. 1000 characters each. */
  variables?: Record<string, string>;
}

export interface IncomingCall {
  /** The agent that answers by default; null: none. */
  agent_id: string | null;
  /**
   * How well the carrier where the call began knows the caller (ATIS-1000074); null: nobody says, or nobody vouches
   * for the trunk.
   */
  attestation: "A" | "B" | "C" | null;
  /**
   * The caller's name as the trunk asserts it, where it is trusted, else as the caller's telephone shows it; empty:
   * there is none.
   */
  caller_name: string;
  /** Who calls; empty when it is withheld. */
  from: string;
  headers?: CallHeaders;
  /** The called number's id. */
  number_id: string;
  /** Where the call was before, as the far end says; absent: it says nothing. */
  origin?: CallOrigin;
  /** The called number. */
  to: string;
  /** What the carrier says of the caller's number (ATIS-1000074); null: nothing. */
  verstat: string | null;
}

export interface Invitation {
  /** When it was made. */
  created_at: string;
  /** Whom it is for. */
  email: string;
  /** Until when its link is good. */
  expires_at: string;
  /** Names it in requests; it is no secret. */
  id: string;
  /** The address of who invited them; null: an API key, or somebody who is no longer there. */
  invited_by: string | null;
  /** What they will be. */
  role: "owner" | "member";
}

export interface KnowledgeAnswer {
  /** The best first. */
  passages: Array<KnowledgePassage>;
  /** How long the search took. */
  took_ms: number;
}

export interface KnowledgeBase {
  /** How large they are together. */
  bytes: number;
  /** When it was made. */
  created_at: string;
  /** How many documents it has. */
  documents: number;
  /** Names the collection in requests and in settings.knowledge_bases of agents. */
  id: string;
  /**
   * What its documents are written in. For en, es, fr, it, de and pt words are found in all their forms, else as they
   * are written.
   */
  language: string;
  /** What it is called. */
  name: string;
  /** Into how many passages they are cut. */
  passages: number;
  /** How many of them are found: all that were read once. */
  ready: number;
  /** When it was renamed last, or made. */
  updated_at: string;
}

export interface KnowledgeBaseChange {
  /** What it is called. */
  name: string;
}

export interface KnowledgeDocument {
  /** How large it is; of an address as it was fetched last. */
  bytes: number;
  /** When it was added. */
  created_at: string;
  /** SHA-256 of its bytes; empty: none are known yet. */
  hash: string;
  /** Names the document in requests. */
  id: string;
  /** Whether it is a file or an address. */
  kind: "file" | "url";
  /** What it was read as; empty: not known yet. */
  media_type: string;
  /** How many pages it has; 0: its format has none. */
  pages: number;
  /** Into how many passages it is cut. Those of the last time stay while it is read again, and when that fails. */
  passages: number;
  /** When its passages were made; null: it has none. */
  read_at: string | null;
  /** Why it could not be read. */
  reason?: string;
  /** The file's name, or the address. */
  source: string;
  /** Whether it waits to be read, is being read, is found, or could not be read. */
  state: "queued" | "reading" | "ready" | "failed";
  /** What it is called: as it was given, else the file's name, or the title of the page. */
  title: string;
  /** When its state changed last. */
  updated_at: string;
}

export interface KnowledgePassage {
  /** Its document. */
  document_id: string;
  /** The heading that it stands under, or empty. */
  heading: string;
  /** The first page that it is on, from 1; 0: the document has none. */
  page: number;
  /**
   * How well it fits, to compare passages of one search; from 1 on, which only a search by words alone gives, it has
   * all of the words.
   */
  rank: number;
  /** Its file's name, or its address. */
  source: string;
  /** What it says. */
  text: string;
  /** The document's title. */
  title: string;
}

export interface KnowledgeQuestion {
  /** How many passages at most. */
  limit?: number;
  /** What is searched for; "in one place" and -not are understood. */
  query: string;
}

export interface LanguageEntry {
  /** Two letters (ISO 639-1). */
  code: string;
  /** In English. */
  name: string;
  /** Whether this server can also recognise it. */
  recognition: boolean;
}

export interface LanguageList {
  /** All of them. */
  languages: Array<LanguageEntry>;
}

export interface LatencyGroup {
  /** How many had turns. */
  calls: number;
  /** From the caller's last word to the decision that they have finished. */
  endpoint_ms: Percentiles;
  /** The day, the hour in which it begins, or the agent; null: conversations of no agent of the account. */
  key: string | null;
  /** The wait for the model after that, until its first words. */
  model_ms: Percentiles;
  /** From the last word to the first audio. */
  total_ms: Percentiles;
  /** How many they had. */
  turns: number;
  /** The wait after them, for the rest of the first sentence and the first audio. */
  voice_ms: Percentiles;
}

export interface LatencyList {
  /** The groups that have turns, the oldest first. */
  data: Array<LatencyGroup>;
  /** Not before this. */
  from: string;
  /** As it was asked for. */
  group_by: "day" | "hour" | "agent";
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
  /** Before this. */
  to: string;
  /** All turns together, of all pages; absent: there are none. */
  total?: LatencyGroup;
}

export interface Limits {
  /** Channels of synthesised audio. */
  channels: number;
  /** Whether uploads and results may be compressed; without it they are WAV and PCM only. */
  compressed_audio: boolean;
  /** Unicode code points, in background tasks. */
  max_async_text_length: number;
  /** The fastest pace. */
  max_speed: number;
  /** The most denoising steps. */
  max_steps: number;
  /** Unicode code points. */
  max_text_length: number;
  /** The slowest pace; 1 is the voice's own. */
  min_speed: number;
  /** The fewest denoising steps. */
  min_steps: number;
  /** Of the audio that is sent, in Hz. */
  sample_rate: number;
}

export interface Line {
  /** quantity x unit_price / unit_price_per, half a billionth of a dollar rounded up. */
  amount: number;
  /** What was used. */
  component: string;
  /** The version of the rate card that the price is of. */
  price_version: string;
  /** In units, begun ones counted. */
  quantity: number;
  /** What the quantity counts. */
  unit: "second" | "minute" | "token" | "character" | "event" | "segment";
  /** What the rate card says. */
  unit_price: number;
  /** How many units that buys. */
  unit_price_per: number;
}

export interface ListAPIKey {
  /** The page's entries. */
  data: Array<APIKey>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListAccount {
  /** The page's entries. */
  data: Array<Account>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListAccountEvent {
  /** The page's entries. */
  data: Array<AccountEvent>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListAccountSecret {
  /** The page's entries. */
  data: Array<AccountSecret>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListAgentDefinition {
  /** The page's entries. */
  data: Array<AgentDefinition>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListCallSummary {
  /** The page's entries. */
  data: Array<CallSummary>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListCase {
  /** The page's entries. */
  data: Array<Case>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListConsent {
  /** The page's entries. */
  data: Array<Consent>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListDelivery {
  /** The page's entries. */
  data: Array<Delivery>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListDoNotCall {
  /** The page's entries. */
  data: Array<DoNotCall>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListEngineKey {
  /** The page's entries. */
  data: Array<EngineKey>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListEntry {
  /** The page's entries. */
  data: Array<Entry>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListInvitation {
  /** The page's entries. */
  data: Array<Invitation>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListKnowledgeBase {
  /** The page's entries. */
  data: Array<KnowledgeBase>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListKnowledgeDocument {
  /** The page's entries. */
  data: Array<KnowledgeDocument>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListMember {
  /** The page's entries. */
  data: Array<Member>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListMessage {
  /** The page's entries. */
  data: Array<Message>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListOutputBody {
  /** The account's numbers. */
  numbers: Array<Number>;
}

export interface ListRequestSummary {
  /** The page's entries. */
  data: Array<RequestSummary>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListSimulation {
  /** The page's entries. */
  data: Array<Simulation>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListSound {
  /** The page's entries. */
  data: Array<Sound>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListSpendingLimit {
  /** The page's entries. */
  data: Array<SpendingLimit>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListTopUp {
  /** The page's entries. */
  data: Array<TopUp>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListTrunk {
  /** The page's entries. */
  data: Array<Trunk>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListTrunkPreset {
  /** The page's entries. */
  data: Array<TrunkPreset>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListUser {
  /** The page's entries. */
  data: Array<User>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface ListWebhook {
  /** The page's entries. */
  data: Array<Webhook>;
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
}

export interface Member {
  /** When they joined. */
  created_at: string;
  /** With which they sign in. */
  email: string;
  /** Whether they may listen in on calls. */
  listen: boolean;
  /** Owners also invite and remove members. */
  role: "owner" | "member";
  /** When they signed in last, to whichever account; null: never. */
  signed_in_at: string | null;
  /** Whether they may speak in calls, too. */
  speak: boolean;
  /** Names them in requests. */
  user_id: string;
}

export interface MemberChangeBody {
  /** Whether they may listen in on calls; absent: it stays. Who may not listen may not speak. */
  listen?: boolean;
  /** What they are from now on; absent: it stays. */
  role?: "owner" | "member";
  /** Whether they may listen in on calls and speak in them; absent: it stays. */
  speak?: boolean;
}

export interface Message {
  /** The agent that sent it; null: none did. */
  agent_id: string | null;
  /** The call in which the agent sent it; else null. */
  call_id: string | null;
  /**
   * What it cost. One that goes out is charged once the carrier has it, delivered or not; until then its price is
   * held.
   */
  cost: number;
  /** When it was asked for, or came in. */
  created_at: string;
  /** When its text was deleted; null: it is there. */
  deleted_at: string | null;
  /** Which way it goes. */
  direction: "inbound" | "outbound";
  /** The GSM alphabet, or UCS-2 where a character is not in it. */
  encoding: "gsm7" | "ucs2";
  /** When it was delivered, has failed or came in; null: neither. */
  ended_at: string | null;
  /** Who sends it; of one that came in perhaps a name. */
  from: string;
  /** Younger ones sort later. */
  id: string;
  /** Why it has failed, for people; else null. */
  reason: string | null;
  /** How many segments it is charged for. */
  segments: number;
  /** When the carrier took it, or had it; null: it has not. */
  sent_at: string | null;
  /**
   * queued: the carrier does not have it yet; sent: it does, and some networks never tell more; delivered; failed; or
   * received, of one that came in.
   */
  status: "queued" | "sent" | "delivered" | "failed" | "received";
  /** What it says; null once it was deleted. */
  text: string | null;
  /** Whom it is for. */
  to: string;
}

/**
 * Names and values of your own, such as the number of an order: 50 names of 1 to 40 letters, digits, _, . and -, and
 * 500 characters each.
 */
export type Metadata = Record<string, string>;

export interface Minted {
  /** Whole seconds until it expires. */
  expires_in: number;
  /** The credential: letters, digits, _ and - only. */
  ticket: string;
}

export interface MintedForAgent {
  /** The agent that it opens. */
  agent_id: string;
  /** Whole seconds until it expires. */
  expires_in: number;
  /**
   * What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance and limits of
   * spending.
   */
  max_cost?: number;
  /** How long each may last; absent when only the agent's settings bound it. */
  max_duration_seconds?: number;
  /** How many conversations it may start. */
  max_sessions: number;
  /** The credential: letters, digits, _ and - only. */
  ticket: string;
}

export interface MintedScoped {
  /** Whole seconds until it expires. */
  expires_in: number;
  /** The groups of routes that it opens; absent: all that tickets open. */
  scope?: Array<string> | null;
  /** The credential: letters, digits, _ and - only. */
  ticket: string;
}

export interface Mistake {
  /** The field, such as settings.speed or tools[0].http.url; body when it is the document as a whole. */
  path: string;
  /** What is wrong with it, and what is allowed. */
  problem: string;
}

export interface ModelEntry {
  /** Whether it is the first choice of its kind. */
  default: boolean;
  /** What it is. */
  description: string;
  /** Speaks, recognises, answers, or does all three. */
  kind: "tts" | "stt" | "llm" | "realtime";
  /** What the engine is called. */
  name: string;
  /** JSON Schema of the options that an agent may give it; absent: it has none. */
  options?: unknown;
  /** It follows rules; there is no model behind it. */
  scripted: boolean;
  /** Accounts may set keys of their own for it; absent: it takes none. */
  takes_keys?: boolean;
  /** It was tried against a fake of its vendor only; absent: against the real one, or it has none. */
  unproven?: boolean;
  /**
   * Whose it is; openai also of other servers that speak its dialect. Absent: it comes along with this server and
   * works offline.
   */
  vendor?: string;
}

export interface ModelList {
  /** All of them. */
  models: Array<ModelEntry>;
}

export interface NewAccount {
  /** Whether the answer holds a key of the account. */
  create_key?: boolean;
  /** For people, 200 bytes at most. */
  name: string;
}

export interface NewAgent {
  /** What it says first; empty: it waits for the caller. */
  first_message?: string;
  /** What it speaks and hears: en es ca gl eu pt fr it de, or auto, which is the caller's; at first en. */
  language?: string;
  /** Values that take the place of those of the same names; null takes a name away, and names that are absent stay. */
  metadata?: Record<string, string | null>;
  /** For people, 200 bytes at most. */
  name: string;
  /** Who the agent is and what it knows, 100,000 bytes at most. */
  prompt?: string;
  settings?: AgentSettings;
  tools?: AgentTools;
  /** F1 to F5 or M1 to M5; at first F1. */
  voice?: string;
}

export interface NewBatch {
  /** The agent that speaks; needed unless every row has one. */
  agent_id?: string;
  /** The time of day in which people are called; without it, that of the account, or any. */
  call_window?: CallWindow;
  /** true: all callees have agreed to be called. Nothing else is accepted. */
  consent_confirmed: unknown;
  /**
   * A number of the account, or local: for each row the one that looks nearest to the callee's. Needed unless every
   * row has one.
   */
  from?: string;
  /** How long each call may last; the agent's own limit counts too. */
  max_duration_seconds?: number;
  /** What is said to a machine; needed with on_machine message, and only there. */
  message?: string;
  metadata?: Metadata;
  /** For people. */
  name?: string;
  /** What a machine that answers gets, as with a single call. */
  on_machine?: "continue" | "hangup" | "message";
  /** The retry rules, one for each outcome. Without them each number is called once. A retry is a row of its own. */
  retries?: Array<Retry> | null;
  /** How long each may ring. */
  ring_timeout_seconds?: number;
  /** Whom to call. */
  rows: Array<NewRow>;
}

export interface NewCall {
  /** The agent that speaks. */
  agent_id: string;
  /** true: the callee has agreed to be called. Nothing else is accepted. */
  consent_confirmed: unknown;
  /**
   * A number of the account; or local, the one that looks nearest to the callee's: the one that begins like it for
   * longest.
   */
  from: string;
  headers?: CallHeaders;
  /** How long the call may last; the agent's own limit counts too. */
  max_duration_seconds?: number;
  /** What is said to a machine, in the agent's voice; needed with on_machine message, and only there. */
  message?: string;
  metadata?: Metadata;
  /**
   * What a machine that answers gets: the agent, as a person does (continue); nothing, the call ends (hangup); or the
   * message after its tone (message). With the last two the agent keeps silent until it is known who answered, at most
   * four seconds; a person who says hello waits one. An assistant that screens calls hears the agent's first message.
   * Without it: as the agent's settings say.
   */
  on_machine?: "continue" | "hangup" | "message";
  /** How long it may ring. */
  ring_timeout_seconds?: number;
  /** The number to call, in international format; spaces and hyphens are ignored. */
  to: string;
  /** Values of the variables that the agent's settings name; of the others their defaults count. 1000 characters each. */
  variables?: Record<string, string>;
}

export interface NewComparison {
  /** The version that it is compared with; without it the calls as they were. */
  against?: number;
  /** How many of the latest recorded calls. */
  calls?: number;
  /** An agent that is not stored, which is compared in place of the one that is. */
  definition?: NewAgent;
  /**
   * Whether the models answer each turn again, which is charged like simulations, or give what they gave, which is
   * free and shows turn-taking alone.
   */
  models?: "asked" | "recorded";
  /** The version that is compared; without it, and without definition, the current one. */
  version?: number;
}

export interface NewInvitation {
  /** Address of the person to invite. */
  email: string;
  /** What they will be. */
  role?: "owner" | "member";
}

export interface NewKey {
  /** Whether it may listen in on calls. */
  listen?: boolean;
  /** Whether it may change what is paid: automatic recharge, limits of spending. */
  money?: boolean;
  /** What it is for. */
  name: string;
  /** What it may do. */
  role?: "member" | "owner";
  /** Whether it may listen in on calls and speak in them. */
  speak?: boolean;
}

export interface NewKnowledgeAddress {
  /** What the document is called; without it as the page is. */
  title?: string;
  /** What is fetched: https, on the public Internet, at most 20 MB; three redirects are followed. */
  url: string;
}

export interface NewKnowledgeBase {
  /** What its documents are written in, such as en or pt-BR. It stays as it is. */
  language?: string;
  /** What it is called. */
  name: string;
}

export interface NewListed {
  /** In international format; spaces and hyphens are ignored. */
  number: string;
  /** Why, in one line. */
  reason?: string;
}

export interface NewMessage {
  /** A number of the account that was bought here: numbers of your own trunks send none. */
  from: string;
  /**
   * What to say, in 10 segments at most: of 153 characters of the GSM alphabet, or of 67 with any other character in
   * the text; one that fits into a single segment may have 160, or 70.
   */
  text: string;
  /** The number to send to, in international format; spaces and hyphens are ignored. It must be one that may be called. */
  to: string;
}

export interface NewRow {
  /** Instead of the batch's. */
  agent_id?: string;
  /** Instead of the batch's. */
  from?: string;
  headers?: CallHeaders;
  metadata?: Metadata;
  /** When to call, with its zone (RFC 3339), a year ahead at most; without it, or in the past, at once. */
  scheduled_at?: string;
  /** The number to call, in international format; spaces and hyphens are ignored. */
  to: string;
  /** Values of the variables that the agent's settings name; of the others their defaults count. 1000 characters each. */
  variables?: Record<string, string>;
}

export interface NewSessionTicket {
  /** An agent of the account. */
  agent_id: string;
  /**
   * What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance and limits of
   * spending.
   */
  max_cost?: number;
  /** How long each may last; without it as long as the agent's settings say. */
  max_duration_seconds?: number;
  /** How many conversations it may start. */
  max_sessions?: number;
  metadata?: Metadata;
  /** How long conversations may be started with it. */
  ttl_seconds?: number;
  /**
   * Values of the variables that the agent's settings name, for each conversation: what the page sends does not change
   * them.
   */
  variables?: Record<string, string>;
}

export interface NewSimulation {
  /** The cases that are run, by their identifiers; without it all of the agent. */
  cases?: Array<string> | null;
  /** An agent that is not stored, which is tried in place of the one that is. */
  definition?: NewAgent;
  /** How often each is run; without it as often as its script says. All runs together are 100 at most. */
  runs?: number;
}

export interface NewStream {
  /**
   * Headers of the request that opens the socket, 32 at most. A value may hold secrets of the account, as
   * {{secret.NAME}}.
   */
  headers?: Record<string, string>;
  /** What the message start tells your server, as customParameters. */
  parameters?: Metadata;
  /** What is sent: what the person on the line says, what they hear, or both. The default is both. */
  tracks?: "inbound" | "outbound" | "both";
  /** Where it is sent: a wss address on the public Internet. It is noted without its path. */
  url: string;
}

export interface NewTicket {
  /** How long it is good, in seconds. */
  expires_in?: number;
  /** The groups of routes that it opens. */
  scope?: Array<"conversations" | "synthesis" | "recognition" | "denoising" | "calls" | "numbers">;
}

export interface NewTopUp {
  /** US dollars, whole cents. The bounds are those of the built-in rate card. */
  amount: number;
}

export interface NewTrunk {
  /**
   * Addresses and networks that its calls come from; twilio, telnyx and teams are those that these carriers publish
   * for their signalling. One belongs to the trunks of one account, unless they have an inbound_username each.
   */
  allow?: Array<string>;
  /** Authorities whose certificates the targets may show over TLS, as PEM; absent: the system's. */
  ca?: string;
  /**
   * Ours, that targets are shown over TLS where they ask for one, as PEM, with those that lead to its authority;
   * absent: none. It is the trunk's own, not the server's.
   */
  cert?: string;
  /** Calls at once, both directions; 0: no limit. */
  channels?: number;
  /**
   * Of Opus, G722, PCMU and PCMA, the best first: their order in offers, and which of an offer is taken. Opus and G722
   * have twice the band; Opus bears losses, and takes about twice the processor time of G.711. Absent: as the operator
   * has set.
   */
  codecs?: Array<string>;
  /** Stands in Contact in place of this server's address: a name that leads to it, as Microsoft Teams wants it. */
  contact_host?: string;
  /** Where numbers without a country code come from, an ISO 3166 code: on a trunk in DE 0341 112233 is +49341112233. */
  country?: string;
  /** Calls a second that are begun here; 0: no limit. */
  cps?: number;
  /** What stands there then, such as a technical prefix. */
  dial_prefix?: string;
  /** How many characters are taken off the front of called numbers that go out, in that form. */
  dial_strip?: number;
  /**
   * Show callees of transfers the caller's number, with the account's in Diversion. The other side must carry calls
   * from numbers that are not the account's.
   */
  diversion?: boolean;
  /**
   * How keys are sent: as telephone events (RFC 4733), or as tones in the audio, for a far end that agrees on events
   * and loses them. Absent: events, where the far end takes them. They are understood in either way.
   */
  dtmf?: "events" | "audio";
  /** Called users that are no telephone numbers, and who answers them. */
  extensions?: Array<TrunkExtension>;
  /** Stands in From and the identity headers in place of this server's address. */
  from_host?: string;
  /** Stands in From in place of the calling number. */
  from_user?: string;
  /** Stand in every INVITE. Names begin with X-. They are shown to all who may read the trunk. */
  headers?: Record<string, string>;
  /**
   * The far end's, that goes with inbound_username. With stream, by what the carrier's questions are checked: the auth
   * token at Twilio, the public key at Telnyx, the signature secret at Vonage. It is stored encrypted and never shown.
   */
  inbound_password?: string;
  /**
   * Who incoming calls must identify themselves as (407); absent: the source is enough, but for websocket. The source
   * of UDP can be forged.
   */
  inbound_username?: string;
  /** The private key of cert, as PEM. It is stored encrypted and never shown. */
  key?: string;
  /** Send INVITEs of more than 1,300 bytes over TCP. */
  large_tcp?: boolean;
  /**
   * Where audio may come from: any source that is the first to send, as behind address translators, or vouched: the
   * address of the description, of signalling, or in allow. Absent: any.
   */
  media?: "any" | "vouched";
  /** Names it on pages and commands; each of the account's another. */
  name: string;
  /**
   * How numbers are written that go out: +49341112233, 49341112233, 0049341112233, or 0341112233 within the country.
   * Absent: e164.
   */
  number_form?: "e164" | "plain" | "international" | "national";
  /**
   * Where all that goes to the targets goes first, by a Route header. Its calls may come in, too, on a trunk that
   * registers. Absent: nowhere else.
   */
  outbound_proxy?: TrunkTarget;
  /** Send P-Asserted-Identity. */
  pai?: boolean;
  /** Ours, that goes with username. It is stored encrypted and never shown. */
  password?: string;
  /** Send P-Preferred-Identity. */
  ppi?: boolean;
  /** Whether 100rel is supported; absent: it is. */
  prack?: boolean;
  /** What stands there then. */
  prefix?: string;
  /**
   * A preset, whose settings count where none is sent, also when the trunk is replaced; an empty list counts as not
   * sent. Absent: none.
   */
  preset?: "asterisk" | "freeswitch" | "3cx" | "kamailio" | "twilio" | "telnyx" | "vonage" | "teams" | "twilio-stream" | "telnyx-stream" | "vonage-stream" | "browser-phone";
  /** Send Privacy: id in every call. */
  privacy?: boolean;
  /** Whether targets are asked by OPTIONS whether they live; absent: they are. Without it they count as up. */
  probe?: boolean;
  /**
   * What the far end sees of this server in Via, Contact and the description of the audio, in place of its address. It
   * must lead here.
   */
  public_ip?: string;
  /** The form of the target of a REFER; absent: sip. */
  refer?: "sip" | "tel";
  /** Keep a registration at the targets. Calls may then come from these, too. Absent: no, unless the preset does. */
  register?: boolean;
  /** Whom the certificate must be for, in place of the target. */
  server_name?: string;
  /**
   * Encryption of the audio: offered, where the far end can; required, always; dtls, always, with keys by a handshake
   * on the media's port. Absent: off, and offered where websocket is set.
   */
  srtp?: "off" | "offered" | "required" | "dtls";
  /**
   * The carrier that brings its calls over a WebSocket of its own, in place of SIP: a number without a SIP trunk. It
   * signs its questions with inbound_password. Such a trunk has no other settings, and calls do not go out on it.
   * Absent: it speaks SIP.
   */
  stream?: "twilio" | "telnyx" | "vonage";
  /** How many characters are taken off the front of called numbers that come in. */
  strip?: number;
  /** Where its calls go, the preferred one first; none: the trunk only brings calls. */
  targets?: Array<TrunkTarget>;
  /**
   * How callers are handed over: by a second call that this server places, or by the far end, which is asked to
   * (REFER). Absent: consult.
   */
  transfers?: "consult" | "refer";
  /**
   * Whether P-Asserted-Identity and verstat are believed; absent: they are. False for exchanges whose users write
   * them.
   */
  trust_identity?: boolean;
  /** Mark numbers with user=phone. */
  user_phone?: boolean;
  /** Ours, for whatever the trunk challenges. */
  username?: string;
  /**
   * Take calls of phones that are made of a browser, over SIP over WebSockets (RFC 7118) at /ws/sip, wherever they
   * are. They identify themselves as inbound_username. Absent: no, unless the preset does.
   */
  websocket?: boolean;
}

export interface NewTrunkNumber {
  /** Who answers; absent: nobody yet. */
  agent_id?: string;
  /** In international format. */
  phone_number: string;
}

export interface NewWebhook {
  /** What it is for. */
  description?: string;
  /** The types of events that it wants; none: all, including future ones. */
  events?: Array<string>;
  /**
   * A program takes its events, and nothing is sent to the address, which may then be one of your own machine. Such a
   * webhook is deleted when no program has asked for an hour.
   */
  listen?: boolean;
  /**
   * Where events are sent: https, on the public Internet. It is shown in lists: a key in it is no secret to holders of
   * the account's keys.
   */
  url: string;
}

export interface Node {
  /** HOST:PORT at which other nodes and operators reach it; empty: it has not said that yet. */
  address: string;
  /** In progress. */
  calls: number;
  /** When it was heard last; one that lives is heard every 2 s. */
  heartbeat_at: string;
  /** Its PARLEY_NODE. */
  name: string;
  /** When a silent one was heard last; null: it lives. */
  silent_since: string | null;
  /** When it was started. */
  started_at: string;
  /** draining: it takes nothing new. silent: it has not been heard for 15 s, so the others have taken it for dead. */
  state: "serving" | "draining" | "silent";
  /** Of its program; empty: it has not said that yet. */
  version: string;
}

export interface NodeList {
  /** By name. */
  data: Array<Node>;
}

export interface Number {
  /** Who answers; null: nobody. */
  agent_id: string | null;
  /** The name of the agent. */
  agent_name: string | null;
  /** How many calls the account places from it in an hour; absent: as many as it likes. */
  calls_per_hour?: number;
  /** ISO code; prices its calls. */
  country_code: string;
  /** Names the number in paths. */
  id: string;
  /** What a month of it costs now. 0: it was given by the operator and costs nothing. */
  monthly_price: number;
  /** When the next month begins, or the unpaid one began; null when nothing will be charged. */
  next_charge_at: string | null;
  /** In international format. */
  phone_number: string;
  /** When it was bought or given. */
  purchased_at: string;
  /** Only when it is past_due: when it is lost. */
  release_at?: string;
  /** pending: the carrier has not activated it yet. past_due: a month is unpaid; it works, and is lost at release_at. */
  status: "active" | "pending" | "past_due";
  /** The trunk of the account that brings and carries its calls; absent: the operator's lines do. */
  trunk_id?: string;
  /** The webhook that is asked about each call, while it rings; absent: none is. */
  webhook_id?: string;
}

/** How calls to a number are routed. Without any rule its agent answers all of them. */
export interface NumberRules {
  /**
   * Where calls go outside the opening hours. It is needed with a schedule or holidays. One of agent, number and
   * message.
   */
  closed?: {
    /** An agent of the account, ag_…, that answers. */
    agent?: string;
    /** What is said before the call ends. */
    message?: string;
    /** A telephone number that the call is forwarded to, in international format. It must be one that may be called. */
    number?: string;
  };
  /** What agents say first in calls of this number; their own first message, where they speak its language. */
  first_message?: string;
  /** Days whose hours differ from those of the week. */
  holidays?: Array<{
    /** The day, as 2026-12-25. */
    date: string;
    /** The hours of the day; none: closed. */
    hours?: Array<string>;
    /** What day it is. */
    name?: string;
  }>;
  /**
   * The language that agents speak in calls of this number, first when they follow their caller, such as en; their
   * own.
   */
  language?: string;
  /** What callers are asked in the opening hours, before anybody answers. */
  menu?: {
    /** What each key leads to. */
    options: Array<{
      /** An agent of the account, ag_…, that answers. */
      agent?: string;
      /** The key. */
      key: "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "*" | "#";
      /** What is said before the call ends. */
      message?: string;
      /** What the option is for. */
      name?: string;
      /** A telephone number that the call is forwarded to, in international format. It must be one that may be called. */
      number?: string;
    }>;
    /**
     * Where the call goes without such a key; as in the opening hours without a menu. One of agent, number and
     * message.
     */
    otherwise?: {
      /** An agent of the account, ag_…, that answers. */
      agent?: string;
      /** What is said before the call ends. */
      message?: string;
      /** A telephone number that the call is forwarded to, in international format. It must be one that may be called. */
      number?: string;
    };
    /** What is said to the caller: which key does what. */
    prompt: string;
    /** How often the prompt is said again when no key of the menu was pressed; 1. */
    repeats?: number;
    /** How long a key may take after the prompt; 5. */
    timeout_seconds?: number;
  };
  /** Where calls go in the opening hours; to the number's own agent. One of agent, number and message. */
  open?: {
    /** An agent of the account, ag_…, that answers. */
    agent?: string;
    /** What is said before the call ends. */
    message?: string;
    /** A telephone number that the call is forwarded to, in international format. It must be one that may be called. */
    number?: string;
  };
  /**
   * Where calls go in the opening hours when they cannot be taken: all lines of the account are busy, its balance is
   * too low, or the agent cannot be reached.
   */
  overflow?: {
    /** A telephone number that the call is forwarded to, in international format. It must be one that may be called. */
    number: string;
  };
  /** The opening hours of each day of the week, closed where there are none. Without a schedule it is always open. */
  schedule?: {
    /** The hours of each Friday. */
    friday?: Array<string>;
    /** The hours of each Monday. */
    monday?: Array<string>;
    /** The hours of each Saturday. */
    saturday?: Array<string>;
    /** The hours of each Sunday. */
    sunday?: Array<string>;
    /** The hours of each Thursday. */
    thursday?: Array<string>;
    /** The hours of each Tuesday. */
    tuesday?: Array<string>;
    /** The hours of each Wednesday. */
    wednesday?: Array<string>;
  };
  /** The time zone of hours and dates, such as Europe/Madrid; UTC. */
  time_zone?: string;
}

export interface Offer {
  /** ISO code: GB for those found under UK. */
  country_code: string;
  /** Capabilities of the number, in the carrier's words. */
  features: Array<string>;
  /** Likewise. */
  locality: string;
  /** What the carrier asks a month, which is not what is charged. */
  monthly_cost: number;
  /** There are only local ones. */
  number_type: "local";
  /** Send exactly this to buy it. */
  phone_number: string;
  /** As the carrier names it; may be empty. */
  region: string;
  /** What the carrier asks once, likewise. */
  upfront_cost: number;
}

export interface OutcomeFigures {
  /** How many. */
  calls: number;
  /** Why they ended. */
  end_reason: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown";
}

export interface OwnAccount {
  /** What the account has, sessions in progress counted. Show it rounded down to the cent. */
  balance: number;
  /** Sessions at once. */
  concurrency: Concurrency;
  /**
   * How long the contents of calls are kept: transcripts, summaries, and recordings at the longest; null: until
   * somebody deletes it.
   */
  conversation_days: number | null;
  /** When it was made. */
  created_at: string;
  /** A payment is disputed: nothing starts. */
  disputed: boolean;
  /** Where warnings are mailed, such as a low balance; empty: nowhere. The operator sets it. */
  email: string;
  /** Names the account. */
  id: string;
  /** The key that asks; absent: a person who has signed in does. */
  key?: APIKey;
  /** For people. */
  name: string;
  /** How long recordings of calls are kept. */
  recording_days: number;
  /**
   * How many requests a key may make in a second, and its tickets together; four seconds' worth may come at once.
   * Null: any number.
   */
  requests_per_second: number | null;
  /** The operator has suspended the account: nothing starts. */
  suspended: boolean;
}

export interface Percentiles {
  /** Half of the turns took no longer, in milliseconds. */
  p50: number;
  /** Nine of ten. */
  p90: number;
  /** 95 of a hundred. */
  p95: number;
  /** 99 of a hundred. */
  p99: number;
}

export interface Placed {
  /** The agent that speaks. */
  agent_id: string;
  /** Names the call. */
  call_id: string;
  /** When the call began. */
  created_at: string;
  /** The number that the callee sees. */
  from: string;
  /** dialing. */
  status: "dialing";
  /** The number called, in international format. */
  to: string;
}

export interface PutEngineKeyRequest {
  /** The key, as its vendor shows it. */
  key: string;
}

export interface Receipt {
  /** While it lasts: what it has used and no line holds yet. Else 0. */
  accrued: number;
  /** Null while it lasts. */
  ended_at: string | null;
  /**
   * Of a call that has ended: the engines that served it, by stage, in the order in which they began to. Absent
   * otherwise, and when it is not known. They do not change the price.
   */
  engines?: CallEngines;
  /**
   * Conversations: web, inbound, outbound; speech without one: tts, stt, denoise; text messages: message_out,
   * message_in.
   */
  kind: "web" | "inbound" | "outbound" | "tts" | "stt" | "denoise" | "message_out" | "message_in";
  /** What it used, one component each. */
  lines: Array<Line>;
  /** When it began. */
  opened_at: string;
  /** The rate card that was in force when it began; no other counts. */
  price_version: string;
  /** The session that was asked for. */
  session_id: string;
  /** When it began to cost; null: never. */
  started_at: string | null;
  /** The sum of the lines, and of the session's entries in the ledger. */
  total: number;
}

export interface RechargeFailure {
  /** When it was. */
  at: string;
  /** The payment provider's word for it; may be empty. */
  code: string;
  /**
   * card_declined: three in a row disable it. authentication_required, the bank wants you to confirm each charge, and
   * no_card disable it at once. refused: the payment provider could not be used. refunded: money that went back to a
   * card left the balance below the threshold, which disables it too.
   */
  reason: "card_declined" | "authentication_required" | "no_card" | "refused" | "refunded";
}

export interface RechargeSettings {
  /** US dollars, whole cents. The bounds are those of the built-in rate card. */
  amount?: number;
  /** Whether to recharge. */
  enabled?: boolean;
  /** US dollars, whole cents. */
  monthly_cap?: number;
  /** US dollars, whole cents. */
  threshold?: number;
}

export interface Released {
  /** Its id, which names nothing any more. */
  id: string;
  /** In international format. */
  phone_number: string;
  /** Always true. */
  released: true;
}

export interface Removal {
  /** The keys that they made and that were good, the newest first; revoked_at is null of those that still are. */
  keys: Array<APIKey>;
}

export interface RequestDetail {
  /** When it came. */
  at: string;
  /**
   * Its body, if that was JSON: the first 4 kB, without the values of fields that are called like secrets or hold what
   * is said; null: it had none, or another.
   */
  body: string | null;
  /** Whether there was more of it. */
  body_cut: boolean;
  /** Size of its body, as far as it was read. */
  bytes_in: number;
  /** Size of the answer's body; of a WebSocket 0. */
  bytes_out: number;
  /** What the client called it in X-Request-Id; null: nothing. */
  client_request_id: string | null;
  /** The error's code; null: none. */
  code: string | null;
  /**
   * The command that sends it again, from a shell with PARLEY_URL and PARLEY_API_KEY. What was blanked or cut must be
   * filled in.
   */
  curl: string;
  /** From its beginning to the end of its answer, in milliseconds; of a WebSocket as long as it was open. */
  duration_ms: number;
  /** Names the request, as X-Request-Id of its answer does. */
  id: string;
  /** The key that was sent, or from which the ticket was made. */
  key_id: string;
  /** What the key is called; null: it is not there any more. */
  key_name: string | null;
  /** Its method. */
  method: string;
  /** The route, as this document has it. */
  route: string;
  /** What it was answered with; 101: it became a WebSocket. */
  status: number;
  /** Its path and query, without credentials. */
  target: string;
  /** The ticket that was sent; null: the key itself. */
  ticket_id: string | null;
}

export interface RequestSummary {
  /** When it came. */
  at: string;
  /** Size of its body, as far as it was read. */
  bytes_in: number;
  /** Size of the answer's body; of a WebSocket 0. */
  bytes_out: number;
  /** What the client called it in X-Request-Id; null: nothing. */
  client_request_id: string | null;
  /** The error's code; null: none. */
  code: string | null;
  /** From its beginning to the end of its answer, in milliseconds; of a WebSocket as long as it was open. */
  duration_ms: number;
  /** Names the request, as X-Request-Id of its answer does. */
  id: string;
  /** The key that was sent, or from which the ticket was made. */
  key_id: string;
  /** What the key is called; null: it is not there any more. */
  key_name: string | null;
  /** Its method. */
  method: string;
  /** The route, as this document has it. */
  route: string;
  /** What it was answered with; 101: it became a WebSocket. */
  status: number;
  /** Its path and query, without credentials. */
  target: string;
  /** The ticket that was sent; null: the key itself. */
  ticket_id: string | null;
}

export interface Retry {
  /** How long after its end the next call is placed, in seconds; with a call_window, within it. */
  after_seconds: number;
  /** How many calls a callee gets in all, the first and those after other outcomes included. */
  attempts: number;
  /** How the call ended. failed: the carrier could not place it; a number that does not exist is not called again. */
  on: "no_answer" | "busy" | "rejected" | "voicemail" | "failed";
}

export interface Routed {
  /**
   * agent: an agent answers. forward: another number is called, and connected when it answers. message: it is said,
   * and the call ends. menu: the caller is asked for a key. redirect: the caller's side is asked to call another
   * number (SIP 302). refuse: nobody answers.
   */
  action: "agent" | "forward" | "message" | "menu" | "redirect" | "refuse";
  /** With agent: who answers. */
  agent_id?: string;
  /** When the call comes, in the time zone of the rules. */
  at: string;
  /** With message and menu: what is said. */
  message?: string;
  /** With forward and redirect: the other number. */
  number?: string;
  /** The number that is called. */
  number_id: string;
  /** Whether that is in the opening hours. */
  open: boolean;
  /** The same in international format. */
  phone_number: string;
  /** Why, step by step, for people. */
  reasons: Array<string>;
}

export interface RoutingTrial {
  /** When the call comes: with an offset as in RFC 3339, or without one in the time zone of the rules. Absent: now. */
  at?: string;
  /** The keys that the caller presses in the menu, one each time it is asked. Absent: the decision is the menu. */
  keys?: string;
  /**
   * What the call finds exhausted: all lines of the account are busy, its balance is too low, or the agent cannot be
   * reached. Absent: nothing.
   */
  out?: "lines" | "balance" | "agent";
  rules?: NumberRules;
}

export interface RowCheck {
  /** When it would be called at the earliest, given a free line; null when it would not. */
  due_at: string | null;
  /** An earlier row with the same number: it would be called twice. Null: there is none. */
  duplicate_of: number | null;
  /** Why not. */
  error?: RowFault;
  /** Whether it would be called. */
  ok: boolean;
  /** Line and agent, without the language model's tokens; null when it would not be called. */
  per_minute: number | null;
  /** Its place, counted from 0. */
  row: number;
  /** The number in international format; as it was sent when it is none. */
  to: string;
}

export interface RowError {
  /** As the request for a single call would be refused with, or callcenter.not_placed, callcenter.batch_cancelled. */
  code: string;
  /** The same for people. */
  error: string;
}

export interface RowFault {
  /** As the request for the batch would be refused with, or the call. */
  code: string;
  /** What exactly, where there is more to say. */
  detail?: string;
  /** The same for people. */
  error: string;
}

export interface SIPMessage {
  /** When it was sent or received. */
  at: string;
  /** Seen from the server. */
  direction: "sent" | "received";
  /** Address and port that it came from. */
  from: string;
  /** The whole of it, secrets masked. */
  message: string;
  /** Address and port that it went to. */
  to: string;
  /** What it came over. */
  transport: "UDP" | "TCP" | "TLS" | "WS";
}

export interface SIPTrace {
  /** The messages, oldest first. */
  data: Array<SIPMessage>;
  /** Older messages that were not kept. */
  dropped: number;
}

export interface SearchOutputBody {
  /** Whether there is another page. */
  has_more: boolean;
  /** Those on this page. */
  numbers: Array<Offer>;
  /** As it was asked for. */
  page: number;
  /** How many there are on a page, at most. */
  page_size: number;
}

export interface SecretInputBody {
  /**
   * Where it may be sent: names of hosts or addresses, and *.example.com for all below. Without it, the secret stays
   * bound as it is; a new one is not bound.
   */
  hosts?: Array<string> | null;
  /** One line, 8,192 bytes at most. */
  value: string;
}

export interface SecretWebhook {
  /** When it was made. */
  created_at: string;
  /** What it is for. */
  description: string;
  /** Why it is disabled: nothing arrived for five days, it answered 410, or its owner did it. */
  disabled_reason?: "failing" | "gone" | "asked";
  /** Whether events are sent to it. */
  enabled: boolean;
  /** The types of events that are sent to it; none: all. */
  events: Array<string>;
  /** Nothing has arrived since; null: the last event did, or there was none. */
  failing_since: string | null;
  /** Names the webhook in requests. */
  id: string;
  /**
   * When a webhook that listens is deleted, unless a program takes an event before; null: events are sent to its
   * address.
   */
  listens_until: string | null;
  /** When the secret before the last rotation ceases to sign; null: there was none. */
  old_secret_until: string | null;
  /** Signs what is sent; shown this once. */
  secret: string;
  /** When it was changed last. */
  updated_at: string;
  /** Where events are sent. */
  url: string;
}

export interface ServerReport {
  /** Conversations in progress, on sockets and telephones; 0 without a key. */
  active_calls: number;
  /** Requests, streams and sockets in progress, this one among them; 0 without a key. */
  active_connections: number;
  /** Answers with a status of 500 or more since the start; 0 without a key. */
  failed_requests: number;
  /** Things that the program does at once; 0 without a key. */
  goroutines: number;
  /** The primary engines. */
  inference: string;
  /** Of the heap, in use; 0 without a key. */
  mem_alloc_bytes: number;
  /** The same as a yes or no. */
  ready: boolean;
  /** What the program was built with, and for; without a key its name alone. */
  runtime: string;
  /** ok when conversations can start. */
  status: "ok" | "warming_up";
  /** When this was found out. */
  timestamp: string;
  /** Since the program started; 0 without a key. */
  uptime_seconds: number;
  /** The version of the program; without a key that of the API. */
  version: string;
}

export interface ServiceHealth {
  /** What the server needs besides its engines. */
  services: ServiceParts;
  /** Degraded: some of it works. */
  status: "operational" | "degraded" | "down";
  /** When this was found out. */
  timestamp: string;
  /** The version of the program; to a ticket that of the API. */
  version: string;
}

export interface ServiceModel {
  /** Whether it is the first choice of its kind. */
  default: boolean;
  /** What it is. */
  description: string;
  /** Speaks, recognises, answers, or does all three. */
  kind: "tts" | "stt" | "llm" | "realtime";
  /** Codes of the languages it knows. */
  languages: Array<string>;
  /** What the engine is called. */
  name: string;
  /** JSON Schema of the options that an agent may give it; absent: it has none. */
  options?: unknown;
  /** Whether it can be used now. */
  ready: boolean;
  /** Why it is not ready. */
  reason?: string;
  /** Of the audio that goes in or comes out, in Hz. */
  sample_rate?: number;
  /** It follows rules; there is no model behind it. */
  scripted: boolean;
  /** Accounts may set keys of their own for it; absent: it takes none. */
  takes_keys?: boolean;
  /** It was tried against a fake of its vendor only; absent: against the real one, or it has none. */
  unproven?: boolean;
  /**
   * Whose it is; openai also of other servers that speak its dialect. Absent: it comes along with this server and
   * works offline.
   */
  vendor?: string;
}

export interface ServiceModels {
  /** All of them. */
  models: Array<ServiceModel>;
}

export interface ServiceParts {
  /** Whether the accounts can be reached. */
  database: "connected" | "unreachable";
  /** Of speech and language. */
  engine: "healthy" | "unavailable";
  /** Whether results can be kept. */
  storage: "available" | "unavailable";
}

export interface ServiceVoice {
  /** Its character in a word or two. */
  description: string;
  /** How it sounds. */
  gender: "female" | "male";
  /** The voice's name for people. */
  name: string;
  /** What requests call the voice. */
  voice_id: string;
}

export interface ServiceVoices {
  /** Identifiers by gender and by character. */
  groups: Record<string, Array<string> | null>;
  /** All of them. */
  voices: Array<ServiceVoice>;
}

export interface SetLimitInputBody {
  /** US dollars a day (UTC); null: no limit. */
  daily_limit: number | null;
}

export interface SimulatedCase {
  /** The case, which may be changed or deleted by now. */
  case_id: string;
  /** Of these, how often something was not as expected. */
  failed: number;
  /** What it was called. */
  name: string;
  /** Whether no run failed; null: it has not been run. */
  ok: boolean | null;
  /** Each run; very many are not all kept. */
  results: Array<SimulatedRun>;
  /** How often it was run. */
  runs: number;
}

export interface SimulatedCheck {
  /** What is expected. */
  expected: string;
  /** What was there instead. */
  found?: string;
  /** Whether it is so. */
  ok: boolean;
  /** Of a criterion: why, as the model says. */
  reason?: string;
}

export interface SimulatedFunction {
  /** What it was called with, JSON. */
  arguments?: string;
  /** When it was called, in milliseconds of the call. */
  at_ms: number;
  /** Its name. */
  name: string;
}

export interface SimulatedLine {
  /** When it was said, in milliseconds of the call. */
  at_ms: number;
  /** Who said it. */
  role: "user" | "agent";
  /** The words of the line. */
  text: string;
}

export interface SimulatedRun {
  /** Each expectation and criterion. */
  checks: Array<SimulatedCheck>;
  /** Whether transcript, functions and turns are left out, for the results are too long. */
  cut?: boolean;
  /** Why the conversation ended. */
  ended: string;
  /** Functions that the agent called. */
  functions: Array<SimulatedFunction>;
  /** How long it was, in simulated time. */
  length_ms: number;
  /** Whether all was as expected. */
  ok: boolean;
  /** Why it could not be played to its end. */
  problem?: string;
  /** Which of the case's, from 1. */
  run: number;
  /** The lines of the caller and the agent, in the order of time. */
  transcript: Array<SimulatedLine>;
  /** The latency of each turn. */
  turns: Array<SimulatedTurn>;
}

export interface SimulatedTurn {
  /** Until the caller's turn was over. */
  endpoint_ms: number;
  /** Until the model's first sentence. */
  model_ms: number;
  /** From the end of the caller's speech to the agent's. */
  total_ms: number;
  /** Which, from 1. */
  turn: number;
  /** Until its audio. */
  voice_ms: number;
}

export interface Simulation {
  /** The agent that is tried. */
  agent_id: string;
  /** Its version when the simulation was asked for. */
  agent_version: number;
  /** Of these, those in which a run failed. */
  cases_failed: number;
  /** Of these, those that were run. */
  cases_run: number;
  /** Cases that it has. */
  cases_total: number;
  /** What it has cost by now. */
  cost: number;
  /** When it was asked for. */
  created_at: string;
  /** Whether a definition is tried that was sent along, and not what is stored. */
  draft: boolean;
  /** When it ended; null: it has not. */
  ended_at: string | null;
  /** Names it. */
  id: string;
  /** Tokens that models read: the agent's, the caller's and the judge's. */
  input_tokens: number;
  /** Whether it is done and every case passed. */
  ok: boolean;
  /** Tokens that they wrote. */
  output_tokens: number;
  /** Why it failed, for people; null: it did not. */
  reason: string | null;
  /** When it began; null: it waits. */
  started_at: string | null;
  /** How far it is; it is over when it is done, failed or canceled. done says nothing about their results. */
  state: "queued" | "running" | "done" | "failed" | "canceled";
}

export interface SimulationDetail {
  /** The agent that is tried. */
  agent_id: string;
  /** Its version when the simulation was asked for. */
  agent_version: number;
  /** Its cases, in the order in which they are run. */
  cases: Array<SimulatedCase>;
  /** Of these, those in which a run failed. */
  cases_failed: number;
  /** Of these, those that were run. */
  cases_run: number;
  /** Cases that it has. */
  cases_total: number;
  /** What it has cost by now. */
  cost: number;
  /** When it was asked for. */
  created_at: string;
  /** Whether a definition is tried that was sent along, and not what is stored. */
  draft: boolean;
  /** When it ended; null: it has not. */
  ended_at: string | null;
  /** Names it. */
  id: string;
  /** Tokens that models read: the agent's, the caller's and the judge's. */
  input_tokens: number;
  /** Whether it is done and every case passed. */
  ok: boolean;
  /** Tokens that they wrote. */
  output_tokens: number;
  /** Why it failed, for people; null: it did not. */
  reason: string | null;
  /** When it began; null: it waits. */
  started_at: string | null;
  /** How far it is; it is over when it is done, failed or canceled. done says nothing about their results. */
  state: "queued" | "running" | "done" | "failed" | "canceled";
}

export interface Sound {
  /** When it was added. */
  created_at: string;
  /** How long it is until it begins again. */
  duration_ms: number;
  /** Names the sound in requests and in settings.hold_sound of agents. */
  id: string;
  /** What it is called. */
  name: string;
}

export interface SpendingLimit {
  /** What may be charged in a day, from midnight to midnight UTC; null: there is no limit. */
  daily_limit: number | null;
  /** What is set aside for minutes and work about to begin; it counts as spent. */
  held: number;
  /** Whose limit it is: the account, a key or an agent. */
  id: string;
  /** The name of it. */
  name: string;
  /** What was charged today. Of a key or an agent it is kept while there is a limit. */
  spent: number;
}

export interface SpokenLine {
  /** Seconds since the answer. */
  at: number;
  /** Who said it. */
  role: "user" | "agent" | "supervisor";
  /** The words; of the agent's those that were heard. */
  text: string;
}

export interface StageLatency {
  /** The engine, as settings of agents name it; null: several served the call, it is not known, or the stage has none. */
  engine: string | null;
  /** Half of them waited no longer, in milliseconds, within 4.5 %. */
  p50_ms: number;
  /** 95 of a hundred, likewise. */
  p95_ms: number;
  /**
   * total: from the caller's last word to the first audio. endpoint: to the decision that the caller has finished.
   * asr: to the last of their words as text. llm: from that decision to the model's first words. tts: from the first
   * whole sentence to the voice's first audio.
   */
  stage: "total" | "endpoint" | "asr" | "llm" | "tts";
  /** How many turns waited. */
  turns: number;
}

export interface Statistics {
  /**
   * The agents that have calls, by their number, the most first: at most 100. Empty: there are none, or they were not
   * asked for.
   */
  by_agent: Array<AgentFigures>;
  /** The days that have calls, the oldest first; empty: there are none, or they were not asked for. */
  by_day: Array<DayFigures>;
  /** How calls ended, the most frequent first. */
  by_outcome: Array<OutcomeFigures>;
  /** The first day, UTC. */
  from: string;
  /** How long turns waited, by stage and engine. */
  stages: Array<StageLatency>;
  /** The day after the last. */
  to: string;
  /** All calls together. */
  total: CallFigures;
}

export interface Status {
  /** Through which carrier. simulated: its numbers reach nobody outside this server. */
  carrier: string;
  /** Where numbers can be searched for. */
  countries: Array<string>;
  /** Whether the server has telephony. */
  enabled: boolean;
}

export interface Stream {
  /** The call. */
  call_id: string;
  /** Where it is sent. */
  host: string;
  /** Its identifier, also among the call's listeners. */
  id: string;
  /** What is sent. */
  tracks: "inbound" | "outbound" | "both";
}

export interface SubmitInputBody {
  /** The same as language, which wins. */
  lang?: string;
  /** One of en es ca gl eu pt fr it de; there is no default. */
  language?: string;
  /**
   * One channel, 44.1 kHz but for the names with a rate and ulaw, which is 8 kHz G.711 mu-law. pcm is Int16 little
   * endian without a header. MP3 only where the server can write it.
   */
  output_format?: "wav" | "mp3" | "pcm" | "ulaw" | "pcm_22050" | "mp3_22050" | "ulaw_8000";
  /** Pace; 1 is the voice's own. */
  speed?: number;
  /** Denoising steps, where the engine has them. */
  steps?: number;
  /** What to say; its length counts in Unicode code points. */
  text: string;
}

export interface Taken {
  /** The next event; absent: none has come. */
  event?: TakenEvent;
}

export interface TakenAttempt {
  /** The beginning of its body. */
  answer?: string;
  /** Why there was no answer. */
  error?: string;
  /** How long the answer took. */
  latency_ms?: number;
  /** Of the answer; 0: there was none. From 200 to 299 the event has arrived. */
  status: number;
}

export interface TakenEvent {
  /** The body of the request, as it is signed. */
  body: string;
  /** The headers of the request, with the signature of now. */
  headers: Record<string, string>;
  /** Names the event. */
  id: string;
  /** What happened. */
  type: string;
}

export interface TargetStatus {
  /** Why it is down, or what it last missed. */
  detail?: string;
  /** Transport and address. */
  target: string;
  /** Whether calls are sent there. */
  up: boolean;
}

export interface Task {
  /** Unicode code points of the text, which are what is charged. */
  characters: number;
  /** Null until it is completed. */
  completed_at: string | null;
  /** When it was submitted. */
  created_at: string;
  /** Length of the audio; null until it is completed. */
  duration_seconds: number | null;
  /** Why it failed; null when it did not. */
  error: {
    /** One of the codes of errors. */
    code: string;
    /** The same for people. */
    message: string;
  } | null;
  /** When the result goes; null until it is completed. */
  expires_at: string | null;
  /** What is spoken. */
  language: string;
  /** How the audio is written. */
  output_format: string;
  /** How much of the text is spoken, per cent; 100 when it is completed. */
  progress: number;
  /** Status of the task; completed and failed are final. */
  status: "pending" | "processing" | "completed" | "failed";
  /** Names the task in every other request. */
  task_id: string;
  /** Who speaks. */
  voice_id: string;
}

export interface TestData {
  /** The webhook that is tested. */
  webhook_id: string;
}

export interface TopUp {
  /** What was asked for. */
  amount: number;
  /** Whether automatic recharge charged a saved card: there is no page. */
  automatic: boolean;
  /** When it was begun. */
  created_at: string;
  /** It came with the demonstration: nobody paid it, and nothing of it goes back to a card. Absent: it is a payment. */
  demonstration?: boolean;
  /** Names the top-up. */
  id: string;
  /** What was received and added to the balance. */
  paid: number;
  /** Of it, what went back to the card. */
  refunded: number;
  /** When it ended; null before. */
  settled_at: string | null;
  /**
   * created: there is no page yet. pending: waits for the customer or the bank; a declined card leaves it so. The
   * others are ends.
   */
  state: "created" | "pending" | "succeeded" | "failed" | "canceled";
  /** Where the customer pays; empty while there is no page. */
  url: string;
}

export interface Transcription {
  /** Length of the audio, which is what is charged. */
  duration_seconds: number;
  /** The name of the recogniser. */
  engine: string;
  /** The two-letter code of the request; empty when it was left to a recogniser of several languages. */
  language: string;
  /** From the end of the upload to the answer. */
  latency_ms: number;
  /** Samples a second of the audio; of compressed audio the rate it was decoded to. */
  sample_rate: number;
  /** The utterances. */
  segments: Array<TranscriptionSegment>;
  /** All that was said. */
  text: string;
}

export interface TranscriptionSegment {
  /** In seconds. */
  duration: number;
  /** Where it ends, in seconds. */
  end: number;
  /** Where the voice begins, in seconds. */
  start: number;
  /** The words in it. */
  text: string;
}

export interface Trunk {
  /**
   * Addresses and networks that its calls come from; twilio, telnyx and teams are those that these carriers publish
   * for their signalling. One belongs to the trunks of one account, unless they have an inbound_username each.
   */
  allow?: Array<string>;
  /** Authorities whose certificates the targets may show over TLS, as PEM; absent: the system's. */
  ca?: string;
  /**
   * Ours, that targets are shown over TLS where they ask for one, as PEM, with those that lead to its authority;
   * absent: none. It is the trunk's own, not the server's.
   */
  cert?: string;
  /** Calls at once, both directions; 0: no limit. */
  channels?: number;
  /**
   * Of Opus, G722, PCMU and PCMA, the best first: their order in offers, and which of an offer is taken. Opus and G722
   * have twice the band; Opus bears losses, and takes about twice the processor time of G.711. Absent: as the operator
   * has set.
   */
  codecs?: Array<string>;
  /** Stands in Contact in place of this server's address: a name that leads to it, as Microsoft Teams wants it. */
  contact_host?: string;
  /** Where numbers without a country code come from, an ISO 3166 code: on a trunk in DE 0341 112233 is +49341112233. */
  country?: string;
  /** Calls a second that are begun here; 0: no limit. */
  cps?: number;
  /** When it was made. */
  created_at: string;
  /** What stands there then, such as a technical prefix. */
  dial_prefix?: string;
  /** How many characters are taken off the front of called numbers that go out, in that form. */
  dial_strip?: number;
  /**
   * Show callees of transfers the caller's number, with the account's in Diversion. The other side must carry calls
   * from numbers that are not the account's.
   */
  diversion?: boolean;
  /**
   * How keys are sent: as telephone events (RFC 4733), or as tones in the audio, for a far end that agrees on events
   * and loses them. Absent: events, where the far end takes them. They are understood in either way.
   */
  dtmf?: "events" | "audio";
  /** Called users that are no telephone numbers, and who answers them. */
  extensions?: Array<TrunkExtension>;
  /** What to enter on the other side, step by step; only of a trunk with a preset. */
  far_end?: Array<string>;
  /** Stands in From and the identity headers in place of this server's address. */
  from_host?: string;
  /** Stands in From in place of the calling number. */
  from_user?: string;
  /** Stand in every INVITE. Names begin with X-. They are shown to all who may read the trunk. */
  headers?: Record<string, string>;
  /** Names the trunk in requests. */
  id: string;
  /**
   * Who incoming calls must identify themselves as (407); absent: the source is enough, but for websocket. The source
   * of UDP can be forged.
   */
  inbound_username?: string;
  /** Send INVITEs of more than 1,300 bytes over TCP. */
  large_tcp?: boolean;
  /**
   * Where audio may come from: any source that is the first to send, as behind address translators, or vouched: the
   * address of the description, of signalling, or in allow. Absent: any.
   */
  media?: "any" | "vouched";
  /** As its owner calls it. */
  name: string;
  /**
   * How numbers are written that go out: +49341112233, 49341112233, 0049341112233, or 0341112233 within the country.
   * Absent: e164.
   */
  number_form?: "e164" | "plain" | "international" | "national";
  /**
   * Where all that goes to the targets goes first, by a Route header. Its calls may come in, too, on a trunk that
   * registers. Absent: nowhere else.
   */
  outbound_proxy?: TrunkTarget;
  /** Send P-Asserted-Identity. */
  pai?: boolean;
  /** Send P-Preferred-Identity. */
  ppi?: boolean;
  /** Whether 100rel is supported; absent: it is. */
  prack?: boolean;
  /** What stands there then. */
  prefix?: string;
  /**
   * A preset, whose settings count where none is sent, also when the trunk is replaced; an empty list counts as not
   * sent. Absent: none.
   */
  preset?: "asterisk" | "freeswitch" | "3cx" | "kamailio" | "twilio" | "telnyx" | "vonage" | "teams" | "twilio-stream" | "telnyx-stream" | "vonage-stream" | "browser-phone";
  /** Send Privacy: id in every call. */
  privacy?: boolean;
  /** Whether targets are asked by OPTIONS whether they live; absent: they are. Without it they count as up. */
  probe?: boolean;
  /**
   * What the far end sees of this server in Via, Contact and the description of the audio, in place of its address. It
   * must lead here.
   */
  public_ip?: string;
  /** The form of the target of a REFER; absent: sip. */
  refer?: "sip" | "tel";
  /** Keep a registration at the targets. Calls may then come from these, too. Absent: no, unless the preset does. */
  register?: boolean;
  /** Whom the certificate must be for, in place of the target. */
  server_name?: string;
  /**
   * Encryption of the audio: offered, where the far end can; required, always; dtls, always, with keys by a handshake
   * on the media's port. Absent: off, and offered where websocket is set.
   */
  srtp?: "off" | "offered" | "required" | "dtls";
  /** How it does on the node that answers; absent: it does not know the trunk yet. */
  status?: TrunkStatus;
  /**
   * The carrier that brings its calls over a WebSocket of its own, in place of SIP: a number without a SIP trunk. It
   * signs its questions with inbound_password. Such a trunk has no other settings, and calls do not go out on it.
   * Absent: it speaks SIP.
   */
  stream?: "twilio" | "telnyx" | "vonage";
  /** How many characters are taken off the front of called numbers that come in. */
  strip?: number;
  /** Where its calls go, the preferred one first; none: the trunk only brings calls. */
  targets?: Array<TrunkTarget>;
  /**
   * How callers are handed over: by a second call that this server places, or by the far end, which is asked to
   * (REFER). Absent: consult.
   */
  transfers?: "consult" | "refer";
  /**
   * Whether P-Asserted-Identity and verstat are believed; absent: they are. False for exchanges whose users write
   * them.
   */
  trust_identity?: boolean;
  /** When it was changed last. */
  updated_at: string;
  /** Mark numbers with user=phone. */
  user_phone?: boolean;
  /** Ours, for whatever the trunk challenges. */
  username?: string;
  /**
   * Take calls of phones that are made of a browser, over SIP over WebSockets (RFC 7118) at /ws/sip, wherever they
   * are. They identify themselves as inbound_username. Absent: no, unless the preset does.
   */
  websocket?: boolean;
}

export interface TrunkExtension {
  /** Who answers. */
  agent_id: string;
  /**
   * The user of the called address. An x stands for any digit where all else is digits, and a * at the end for any
   * rest. The first that matches counts.
   */
  match: string;
}

export interface TrunkPreset {
  /** What to enter on the other side, step by step. What only a trunk knows stands in capitals, such as USERNAME. */
  far_end: Array<string>;
  /** Names it in the settings of a trunk. */
  name: string;
  /** Settings that its owner must send besides the name. */
  needs: Array<string>;
  /** Its page of the documentation of this server. */
  page: string;
  /** Of a trunk with it, where its owner sends none. */
  settings: TrunkSettings;
  /** Pages of its maker that this comes from. */
  sources: Array<TrunkPresetSource>;
  /** tried: tests of this program call the real thing. documented: its maker describes it so. */
  state: "tried" | "documented";
  /** How the two are connected, in a sentence. */
  summary: string;
  /** Of the maker, for people. */
  title: string;
  /** What the tests do; only of one that is tried. */
  tried?: string;
}

export interface TrunkPresetSource {
  /** What the page is about. */
  title: string;
  /** Where it is. */
  url: string;
}

export interface TrunkRegistration {
  /** Of the last attempt. */
  error?: string;
  /** Whether it is in force. */
  registered: boolean;
  /** When it ends unless it is refreshed; null: it is not in force. */
  until: string | null;
}

export interface TrunkSettings {
  /**
   * Addresses and networks that its calls come from; twilio, telnyx and teams are those that these carriers publish
   * for their signalling. One belongs to the trunks of one account, unless they have an inbound_username each.
   */
  allow?: Array<string>;
  /** Authorities whose certificates the targets may show over TLS, as PEM; absent: the system's. */
  ca?: string;
  /**
   * Ours, that targets are shown over TLS where they ask for one, as PEM, with those that lead to its authority;
   * absent: none. It is the trunk's own, not the server's.
   */
  cert?: string;
  /** Calls at once, both directions; 0: no limit. */
  channels?: number;
  /**
   * Of Opus, G722, PCMU and PCMA, the best first: their order in offers, and which of an offer is taken. Opus and G722
   * have twice the band; Opus bears losses, and takes about twice the processor time of G.711. Absent: as the operator
   * has set.
   */
  codecs?: Array<string>;
  /** Stands in Contact in place of this server's address: a name that leads to it, as Microsoft Teams wants it. */
  contact_host?: string;
  /** Where numbers without a country code come from, an ISO 3166 code: on a trunk in DE 0341 112233 is +49341112233. */
  country?: string;
  /** Calls a second that are begun here; 0: no limit. */
  cps?: number;
  /** What stands there then, such as a technical prefix. */
  dial_prefix?: string;
  /** How many characters are taken off the front of called numbers that go out, in that form. */
  dial_strip?: number;
  /**
   * Show callees of transfers the caller's number, with the account's in Diversion. The other side must carry calls
   * from numbers that are not the account's.
   */
  diversion?: boolean;
  /**
   * How keys are sent: as telephone events (RFC 4733), or as tones in the audio, for a far end that agrees on events
   * and loses them. Absent: events, where the far end takes them. They are understood in either way.
   */
  dtmf?: "events" | "audio";
  /** Called users that are no telephone numbers, and who answers them. */
  extensions?: Array<TrunkExtension>;
  /** Stands in From and the identity headers in place of this server's address. */
  from_host?: string;
  /** Stands in From in place of the calling number. */
  from_user?: string;
  /** Stand in every INVITE. Names begin with X-. They are shown to all who may read the trunk. */
  headers?: Record<string, string>;
  /**
   * Who incoming calls must identify themselves as (407); absent: the source is enough, but for websocket. The source
   * of UDP can be forged.
   */
  inbound_username?: string;
  /** Send INVITEs of more than 1,300 bytes over TCP. */
  large_tcp?: boolean;
  /**
   * Where audio may come from: any source that is the first to send, as behind address translators, or vouched: the
   * address of the description, of signalling, or in allow. Absent: any.
   */
  media?: "any" | "vouched";
  /**
   * How numbers are written that go out: +49341112233, 49341112233, 0049341112233, or 0341112233 within the country.
   * Absent: e164.
   */
  number_form?: "e164" | "plain" | "international" | "national";
  /**
   * Where all that goes to the targets goes first, by a Route header. Its calls may come in, too, on a trunk that
   * registers. Absent: nowhere else.
   */
  outbound_proxy?: TrunkTarget;
  /** Send P-Asserted-Identity. */
  pai?: boolean;
  /** Send P-Preferred-Identity. */
  ppi?: boolean;
  /** Whether 100rel is supported; absent: it is. */
  prack?: boolean;
  /** What stands there then. */
  prefix?: string;
  /**
   * A preset, whose settings count where none is sent, also when the trunk is replaced; an empty list counts as not
   * sent. Absent: none.
   */
  preset?: "asterisk" | "freeswitch" | "3cx" | "kamailio" | "twilio" | "telnyx" | "vonage" | "teams" | "twilio-stream" | "telnyx-stream" | "vonage-stream" | "browser-phone";
  /** Send Privacy: id in every call. */
  privacy?: boolean;
  /** Whether targets are asked by OPTIONS whether they live; absent: they are. Without it they count as up. */
  probe?: boolean;
  /**
   * What the far end sees of this server in Via, Contact and the description of the audio, in place of its address. It
   * must lead here.
   */
  public_ip?: string;
  /** The form of the target of a REFER; absent: sip. */
  refer?: "sip" | "tel";
  /** Keep a registration at the targets. Calls may then come from these, too. Absent: no, unless the preset does. */
  register?: boolean;
  /** Whom the certificate must be for, in place of the target. */
  server_name?: string;
  /**
   * Encryption of the audio: offered, where the far end can; required, always; dtls, always, with keys by a handshake
   * on the media's port. Absent: off, and offered where websocket is set.
   */
  srtp?: "off" | "offered" | "required" | "dtls";
  /**
   * The carrier that brings its calls over a WebSocket of its own, in place of SIP: a number without a SIP trunk. It
   * signs its questions with inbound_password. Such a trunk has no other settings, and calls do not go out on it.
   * Absent: it speaks SIP.
   */
  stream?: "twilio" | "telnyx" | "vonage";
  /** How many characters are taken off the front of called numbers that come in. */
  strip?: number;
  /** Where its calls go, the preferred one first; none: the trunk only brings calls. */
  targets?: Array<TrunkTarget>;
  /**
   * How callers are handed over: by a second call that this server places, or by the far end, which is asked to
   * (REFER). Absent: consult.
   */
  transfers?: "consult" | "refer";
  /**
   * Whether P-Asserted-Identity and verstat are believed; absent: they are. False for exchanges whose users write
   * them.
   */
  trust_identity?: boolean;
  /** Mark numbers with user=phone. */
  user_phone?: boolean;
  /** Ours, for whatever the trunk challenges. */
  username?: string;
  /**
   * Take calls of phones that are made of a browser, over SIP over WebSockets (RFC 7118) at /ws/sip, wherever they
   * are. They identify themselves as inbound_username. Absent: no, unless the preset does.
   */
  websocket?: boolean;
}

export interface TrunkStatus {
  /** On it now, both directions. */
  calls: number;
  /** Why it does not work, or not wholly. */
  error?: string;
  /** Only of a trunk that registers. */
  registration?: TrunkRegistration;
  /** Its servers, as their names were found, in the order in which they are tried. */
  targets: Array<TargetStatus>;
}

export interface TrunkTarget {
  /** Its name or address, on the public Internet unless the operator allows another. */
  host: string;
  /** 0 or absent: the name's SRV records, and else the transport's usual one. */
  port?: number;
  /** Absent: udp. */
  transport?: "udp" | "tcp" | "tls";
}

export interface TurnSide {
  /** When the caller was taken to be done, from the beginning of the call. */
  at_ms: number;
  /** The functions that were called. */
  functions: Array<string>;
  /** What the caller said. */
  heard: string;
  /** The caller interrupted the agent. */
  interrupted: boolean;
  /** From the end of the caller's speech to the first sound of the answer; null: there was none. */
  latency_ms: number | null;
  /** What the agent said, as far as it was heard. */
  said: string;
  /** From 1; 0 is what is before the caller's first turn. */
  turn: number;
}

export interface Usage {
  /** The sum of its components. */
  amount: number;
  /** What was used. */
  components: Array<Used>;
  /**
   * The day, agent, session or component; null: sessions of no agent of the account, and months of numbers, which
   * belong to no agent and no call.
   */
  key: string | null;
}

export interface UsageList {
  /** What sessions in progress have used and no group holds yet, whatever the range. */
  accrued: number;
  /** The page's entries. */
  data: Array<Usage>;
  /** Null: since the account was made. */
  from: string | null;
  /** As it was asked for. */
  group_by: "day" | "agent" | "call" | "component";
  /** Whether the list goes on. */
  has_more: boolean;
  /** Send it as cursor to read on; null at the end. */
  next_cursor: string | null;
  /** Null: until now. */
  to: string | null;
  /** The sum of all groups, of other pages too; on the first page only, else null. */
  total: number | null;
}

export interface Used {
  /** What it cost. */
  amount: number;
  /** What was used. */
  component: string;
  /** In units; below zero when more was given back than was used. */
  quantity: number;
  /** What the quantity counts. */
  unit: "second" | "minute" | "token" | "character" | "event" | "segment" | "month";
}

export interface User {
  /** When they were made. */
  created_at: string;
  /** Since when they may not sign in; null: they may. */
  disabled_at: string | null;
  /** With which they sign in. */
  email: string;
  /** Names them in requests. */
  id: string;
  /** An operator looks after all accounts, a member has only their own. */
  role: "operator" | "member";
  /** When they signed in last; null: never. */
  signed_in_at: string | null;
}

export interface UserChangeBody {
  /** Whether they may not sign in. */
  disabled?: boolean;
  /** member takes an operator's role away. */
  role?: "member";
}

export interface VoiceEntry {
  /** Its character in a word or two. */
  description: string;
  /** How it sounds. */
  gender: "female" | "male";
  /** What requests name. */
  id: string;
  /** Codes of the languages it speaks. */
  languages: Array<string>;
  /** The voice's name for people. */
  name: string;
}

export interface VoiceList {
  /** All of them. */
  voices: Array<VoiceEntry>;
}

export interface Warning {
  /** The figures; which are there depends on the kind. */
  data: EventFigures;
  /**
   * account.suspended, dispute.opened, balance.exhausted (nothing starts), balance.low, spending.limit (until midnight
   * UTC), recharge.failed, number.past_due, number.released (for a week) or bonus.expiring (within a week); there may
   * be more kinds.
   */
  kind: string;
  /** The same for people. */
  message: string;
  /** When it was noticed; null where that is not known. */
  since: string | null;
}

export interface Waveform {
  /** The right side, what the caller heard, in as many parts. */
  agent: Array<number>;
  /** The left side: the loudest of each part, 0 to 255, which is full scale. */
  caller: Array<number>;
  /** Of the recording, in seconds. */
  duration: number;
}

export interface Webhook {
  /** When it was made. */
  created_at: string;
  /** What it is for. */
  description: string;
  /** Why it is disabled: nothing arrived for five days, it answered 410, or its owner did it. */
  disabled_reason?: "failing" | "gone" | "asked";
  /** Whether events are sent to it. */
  enabled: boolean;
  /** The types of events that are sent to it; none: all. */
  events: Array<string>;
  /** Nothing has arrived since; null: the last event did, or there was none. */
  failing_since: string | null;
  /** Names the webhook in requests. */
  id: string;
  /**
   * When a webhook that listens is deleted, unless a program takes an event before; null: events are sent to its
   * address.
   */
  listens_until: string | null;
  /** When the secret before the last rotation ceases to sign; null: there was none. */
  old_secret_until: string | null;
  /** When it was changed last. */
  updated_at: string;
  /** Where events are sent. */
  url: string;
}

/** A client of one server with one credential: a method for each operation of its HTTP API. */
export class Parley extends Requests {
  /**
   * Read the account of the key.
   * What the account is called, what it may do at once, how long it keeps transcripts, and which key asks: a program
   * learns whose key it holds. The balance counts sessions in progress; `GET /v1/balance` says what it is made of.
   */
  getOwnAccount(options: Asked = {}): Promise<OwnAccount> {
    return this.json("GET", "/v1/account", { options });
  }

  /**
   * Read automatic recharge.
   * The settings, those of the rate card where none were made, and how it stands.
   */
  getAutoRecharge(options: Asked = {}): Promise<AutoRecharge> {
    return this.json("GET", "/v1/auto-recharge", { options });
  }

  /**
   * Change automatic recharge.
   * Fields that are not sent, or null, stay as they are. `amount` is within the bounds of a top-up and at most what
   * the operator lets one charge be, 500 US dollars where they say nothing; `monthly_cap` is at least `amount`.
   * Enabling it charges the card at once when the balance is below `threshold`; it needs a card that has paid a
   * top-up, else the answer is 402. The card that paid last is charged, and after each charge not again for ten
   * minutes. This takes an owner's sign-in, or a key with the mark money.
   */
  updateAutoRecharge(body: RechargeSettings, options: Asked = {}): Promise<AutoRecharge> {
    return this.json("PATCH", "/v1/auto-recharge", { body, options });
  }

  /**
   * Set automatic recharge.
   * Fields that are not sent, or null, become those of the rate card, and `enabled` false. `amount` is within the
   * bounds of a top-up and at most what the operator lets one charge be, 500 US dollars where they say nothing;
   * `monthly_cap` is at least `amount`. Enabling it charges the card at once when the balance is below `threshold`; it
   * needs a card that has paid a top-up, else the answer is 402. The card that paid last is charged, and after each
   * charge not again for ten minutes. This takes an owner's sign-in, or a key with the mark money.
   */
  replaceAutoRecharge(body: RechargeSettings, options: Asked = {}): Promise<AutoRecharge> {
    return this.json("PUT", "/v1/auto-recharge", { body, options });
  }

  /**
   * Read the balance.
   * What the account has, sessions in progress counted. `balance` is `paid` + `bonus`, and `posted` - `accrued`.
   * `warnings` is for a banner: what is about to stop working, and why. Amounts have up to nine decimals and are
   * exact; show balances rounded down to the cent.
   */
  getBalance(options: Asked = {}): Promise<Balance> {
    return this.json("GET", "/v1/balance", { options });
  }

  /**
   * Read the receipt of a session.
   * What a call or any other session cost, a line for each component; `total` is their sum and what the ledger
   * charged. The identifier is `session_id` of the ledger's entries: recordings, texts and files have one too. Amounts
   * have up to nine decimals and are exact; show balances rounded down to the cent.
   */
  getReceipt(id: string, options: Asked = {}): Promise<Receipt> {
    return this.json("GET", `/v1/calls/${encodeURIComponent(id)}/receipt`, { options });
  }

  /**
   * List account events.
   * Newest first. An event is entered by what caused it: a balance that fell below the threshold of automatic
   * recharge, or the rate card's without one; a number's month that could not be paid, and the number's loss 30 days
   * later; a recharge that failed; a payment that is disputed; a limit of spending that is nearly reached, or reached.
   * Each comes once: a low balance again only after it was not. What still is so is in `warnings` of `GET /v1/balance`
   * too, and accounts with an address get it by mail.
   */
  listEvents(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListAccountEvent, AccountEvent> {
    return this.pages("GET", "/v1/events", { query, options });
  }

  /**
   * List ledger entries.
   * Newest first; entries never change. `balance_after` of an entry is that of the one before it plus `amount`.
   * Sessions are entered when they end. Amounts have up to nine decimals and are exact; show balances rounded down to
   * the cent.
   */
  listLedger(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** Only entries of this kind. */
    kind?: string;
    /** How many at most. */
    limit?: number;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Page<ListEntry, Entry> {
    return this.pages("GET", "/v1/ledger", { query, options });
  }

  /**
   * Export ledger entries.
   * The entries of `GET /v1/ledger`, newest first, with the columns
   * `id,at,kind,amount,balance_after,pot,component,session_id,price_version`. The file is CSV as RFC 4180 has it:
   * UTF-8, a header line, lines that end with CRLF. It shows one moment, however long it takes to send. One that
   * cannot be completed ends with a broken connection, never as if it were whole. An account may export two files at
   * once.
   */
  exportLedger(query: {
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** Only entries of this kind. */
    kind?: string;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Promise<Response> {
    return this.raw("GET", "/v1/ledger.csv", { query, options });
  }

  /**
   * The rate card in force.
   * Every price, in US dollars before tax, and the rules of the balance. A session is charged by the version in force
   * when it started.
   */
  getPricing(options: Asked = {}): Promise<{
    /** The currency of every price. */
    currency: "USD";
    /** Date and revision. */
    version: string;
  } & Record<string, unknown>> {
    return this.json("GET", "/v1/pricing", { options });
  }

  /**
   * List the limits of spending.
   * What may be spent in a day (UTC), and what was: the account's row, which is there without a limit, too, and one
   * for each key and each agent that has one. When what was charged and what is held reach a limit, nothing that it
   * binds begins (402 `limit.spending`, on the telephone 480), and conversations end as they do when the balance is
   * used up, with `end_detail` `spending_limit`. A key binds what it asks for, and what its tickets do; an agent binds
   * all its conversations. Months of numbers do not count. At four fifths and at the limit there is an event
   * `spending.limit`.
   */
  listSpendingLimits(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListSpendingLimit, SpendingLimit> {
    return this.pages("GET", "/v1/spending-limits", { query, options });
  }

  /**
   * Set a limit of spending.
   * `daily_limit` null takes it away; what was charged today counts. This takes an owner's sign-in, or a key with the
   * mark money.
   */
  setSpendingLimit(id: string, body: SetLimitInputBody, options: Asked = {}): Promise<SpendingLimit> {
    return this.json("PATCH", `/v1/spending-limits/${encodeURIComponent(id)}`, { body, options });
  }

  /**
   * List top-ups.
   * Newest first, also those that were never paid.
   */
  listTopups(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListTopUp, TopUp> {
    return this.pages("GET", "/v1/topups", { query, options });
  }

  /**
   * Top up the balance.
   * Makes a page on which the customer pays `amount` by card: send the customer to `url`. The balance grows when the
   * provider says that the payment has succeeded, not when the customer comes back. Amounts are in US dollars, whole
   * cents, within the rate card's `wallet.min_topup` and `wallet.max_topup`. Twenty may be begun in an hour. A server
   * that takes no payments does not have this.
   */
  createTopup(body: NewTopUp, options: Repeated = {}): Promise<TopUp> {
    return this.json("POST", "/v1/topups", { body, repeat: true, options });
  }

  /**
   * Read a top-up.
   * One that is not settled is looked up at the payment provider, so that the answer is what has happened there.
   */
  getTopup(id: string, options: Asked = {}): Promise<TopUp> {
    return this.json("GET", `/v1/topups/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Sum up usage.
   * What was used and what it cost, by day (UTC), agent, call or component, newest first. Usage belongs to the moment
   * at which it was entered in the ledger, which for most sessions is their end. What sessions in progress have used
   * since is in `accrued` and nowhere else. Amounts have up to nine decimals and are exact; show balances rounded down
   * to the cent.
   */
  getUsage(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** What is summed up together. */
    group_by?: "day" | "agent" | "call" | "component";
    /** How many at most. */
    limit?: number;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Page<UsageList, Usage> {
    return this.pages("GET", "/v1/usage", { query, options });
  }

  /**
   * Export usage.
   * The groups of `GET /v1/usage`, a line for each component of each, with the columns
   * `day,component,quantity,unit,amount`; the first is named after the grouping, and there is none by component. The
   * file is CSV as RFC 4180 has it: UTF-8, a header line, lines that end with CRLF. It shows one moment, however long
   * it takes to send. One that cannot be completed ends with a broken connection, never as if it were whole. An
   * account may export two files at once.
   */
  exportUsage(query: {
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** What is summed up together. */
    group_by?: "day" | "agent" | "call" | "component";
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Promise<Response> {
    return this.raw("GET", "/v1/usage.csv", { query, options });
  }

  /**
   * Sum up what engines used.
   * In calls, after them, and in synthesis and recognition without a call, as the vendors of the engines count: of
   * sessions that began in the range and have ended. Engines that come along with the server count nothing, but for
   * language models. `price` is what you pay beside the price of the sessions, which `GET /v1/usage` has.
   */
  getEngineUsage(query: {
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Promise<EngineTotals> {
    return this.json("GET", "/v1/usage/engines", { query, options });
  }

  /**
   * List the account's agents.
   * Newest first.
   */
  listAgents(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
    /** Only agents with this metadata, such as metadata[team]=sales; of several names all. */
    metadata?: Metadata;
  } = {}, options: Asked = {}): Page<ListAgentDefinition, AgentDefinition> {
    return this.pages("GET", "/v1/agents", { query, options });
  }

  /**
   * Create an agent.
   * Only `name` must be sent. `detail` names every field that is not valid, and what is allowed.
   */
  createAgent(body: NewAgent, options: Repeated = {}): Promise<AgentDefinition> {
    return this.json("POST", "/v1/agents", { body, repeat: true, options });
  }

  /**
   * Read the schema of agents.
   * JSON Schema 2020-12 of the documents that are sent here, for editors and for checks before sending.
   */
  getAgentSchema(options: Asked = {}): Promise<Record<string, unknown>> {
    return this.json("GET", "/v1/agents/schema", { options });
  }

  /**
   * Check an agent without saving it.
   * Says everything that is wrong with a document, field by field, as `POST /v1/agents` would refuse it, and stores
   * nothing: for editors that check while one types. With `agent_id` it says, too, what of that agent would change if
   * the document replaced it.
   */
  validateAgent(body: NewAgent, query: {
    /** The agent of the account that the document would replace. */
    agent_id?: string;
  } = {}, options: Asked = {}): Promise<AgentCheck> {
    return this.json("POST", "/v1/agents/validate", { body, query, options });
  }

  /**
   * Delete an agent.
   * Numbers that it answered are answered by nobody. Conversations in progress go on; history keeps the identifier.
   * With `If-Match: "7"` it is done only while the version is 7, and else answered with 412.
   */
  deleteAgent(id: string, options: Changed = {}): Promise<void> {
    return this.none("DELETE", `/v1/agents/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Read an agent.
   * `ETag` is its version.
   */
  getAgent(id: string, options: Asked = {}): Promise<AgentDefinition> {
    return this.json("GET", `/v1/agents/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Change an agent.
   * Fields that are not sent, or null, stay as they are; `tools` and `settings` are replaced as a whole, `metadata`
   * name by name. Conversations in progress go on with the agent as it was, and every change leaves it as a version.
   * What changes nothing, or only `metadata`, makes none. With `If-Match: "7"` it is done only while the version is 7,
   * and else answered with 412.
   */
  updateAgent(id: string, body: AgentChange, options: Changed = {}): Promise<AgentDefinition> {
    return this.json("PATCH", `/v1/agents/${encodeURIComponent(id)}`, { body, options });
  }

  /**
   * Replace an agent.
   * As if it were created anew: what is not sent has its default, but for `metadata`, which stay. With the body of a
   * version it is restored; `id`, `version` and times in it are ignored. With `If-Match: "7"` it is done only while
   * the version is 7, and else answered with 412.
   */
  replaceAgent(id: string, body: NewAgent, options: Changed = {}): Promise<AgentDefinition> {
    return this.json("PUT", `/v1/agents/${encodeURIComponent(id)}`, { body, options });
  }

  /**
   * List the test cases of an agent.
   * Newest first.
   */
  listCases(id: string, query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListCase, Case> {
    return this.pages("GET", `/v1/agents/${encodeURIComponent(id)}/cases`, { query, options });
  }

  /**
   * Add a test case to an agent.
   * A simulated caller and what is expected of the agent. `detail` names every mistake in the script by its path. An
   * agent has 100 cases at most.
   */
  createCase(id: string, body: CaseDraft, options: Repeated = {}): Promise<Case> {
    return this.json("POST", `/v1/agents/${encodeURIComponent(id)}/cases`, { body, repeat: true, options });
  }

  /**
   * Delete a test case.
   * Results of simulations stay.
   */
  deleteCase(id: string, caseId: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/agents/${encodeURIComponent(id)}/cases/${encodeURIComponent(caseId)}`, { options });
  }

  /**
   * Read a test case.
   * With its script.
   */
  getCase(id: string, caseId: string, options: Asked = {}): Promise<Case> {
    return this.json("GET", `/v1/agents/${encodeURIComponent(id)}/cases/${encodeURIComponent(caseId)}`, { options });
  }

  /**
   * Replace a test case.
   * Its name and its script. Simulations that wait or run go on with the case as it was.
   */
  replaceCase(id: string, caseId: string, body: CaseDraft, options: Asked = {}): Promise<Case> {
    return this.json("PUT", `/v1/agents/${encodeURIComponent(id)}/cases/${encodeURIComponent(caseId)}`, { body, options });
  }

  /**
   * Compare an agent with its recorded calls.
   * Has the models of a version of an agent, or of one that is not stored, answer the turns of its latest recorded
   * calls again, and shows turn by turn the recorded answer, the one that it would give and the functions that it
   * would call; with `against` also those of another version. Each turn is asked after what the caller and the agent
   * had said up to it in the call. No function is run: the model gets the recorded result of one that it calls with
   * the same arguments, and its answer ends with any other. The calls are conducted again, too, with what their
   * models, voices and functions gave: `turns` says where turn-taking would differ. The tokens are charged like those
   * of simulations; with `models` of `recorded` no model is asked, and it is free. 100 turns in 45 seconds are
   * answered at most. Calls are kept for this while the agent's setting `record` is on, as long as their recordings.
   * An account may ask for ten comparisons at once and ten a minute.
   */
  compareAgent(id: string, body: NewComparison, options: Asked = {}): Promise<Comparison> {
    return this.json("POST", `/v1/agents/${encodeURIComponent(id)}/compare`, { body, options });
  }

  /**
   * List the simulations of an agent.
   * Newest first, without results.
   */
  listSimulations(id: string, query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListSimulation, Simulation> {
    return this.pages("GET", `/v1/agents/${encodeURIComponent(id)}/simulations`, { query, options });
  }

  /**
   * Run test cases of an agent.
   * Has simulated callers try the agent in the background, in simulated time, without telephone and voice; none of its
   * functions is really called. With `definition` an agent is tried that is not stored, as `POST /v1/agents` takes it.
   * Tokens of the models are charged as those of replies. It takes 10 minutes at most, and five of an account may wait
   * or run. The last 100 of an agent are kept.
   */
  createSimulation(id: string, body: NewSimulation, options: Repeated = {}): Promise<Simulation> {
    return this.json("POST", `/v1/agents/${encodeURIComponent(id)}/simulations`, { body, repeat: true, options });
  }

  /**
   * List an agent's versions.
   * The agent as each change left it, the newest first; `updated_at` is when it became so.
   */
  listAgentVersions(id: string, query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListAgentDefinition, AgentDefinition> {
    return this.pages("GET", `/v1/agents/${encodeURIComponent(id)}/versions`, { query, options });
  }

  /**
   * Read a version of an agent.
   * Send it to `PUT /v1/agents/{id}`, with `If-Match`, to restore it.
   */
  getAgentVersion(id: string, version: number, options: Asked = {}): Promise<AgentDefinition> {
    return this.json("GET", `/v1/agents/${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}`, { options });
  }

  /**
   * Compare two versions of an agent.
   * What differs in a version from the one before it, or from another, field by field. Of the first version everything
   * that a new agent has not.
   */
  diffAgentVersions(id: string, version: number, query: {
    /** The version that it is compared with; without it the one before. */
    against?: number;
  } = {}, options: Asked = {}): Promise<AgentDiff> {
    return this.json("GET", `/v1/agents/${encodeURIComponent(id)}/versions/${encodeURIComponent(version)}/diff`, { query, options });
  }

  /**
   * Test a function of an agent.
   * Runs one function as a conversation would: from this server, with the account's secrets, to addresses that
   * functions may reach, and for as long as it may take; and answers with what the model would read. The list is the
   * `tools` of an agent, stored or not; a mistake in it is refused as `POST /v1/agents` refuses it. What the service
   * does, it really does. Functions that conversations are charged for are not tested, nor are those of clients. An
   * account may have ten tests at once and ten a minute.
   */
  testFunction(body: FunctionTestInputBody, options: Asked = {}): Promise<FunctionTest> {
    return this.json("POST", "/v1/functions/test", { body, options });
  }

  /**
   * Read a simulation.
   * With the results of each case that has run. Ask every second or two until `ended_at` is there.
   */
  getSimulation(id: string, options: Asked = {}): Promise<SimulationDetail> {
    return this.json("GET", `/v1/simulations/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Cancel a simulation.
   * It stops after the run that it makes now; what was run is kept and charged. One that has ended stays as it is.
   */
  cancelSimulation(id: string, options: Asked = {}): Promise<Simulation> {
    return this.json("POST", `/v1/simulations/${encodeURIComponent(id)}/cancel`, { options });
  }

  /**
   * List who can answer.
   * Every agent of the account, newest first.
   */
  listCallcenterAgents(options: Asked = {}): Promise<AgentsOutputBody> {
    return this.json("GET", "/callcenter/agents", { options });
  }

  /**
   * List the batches.
   * Every batch of the account, newest first, with its number of calls by status.
   */
  listBatches(options: Asked = {}): Promise<BatchesOutputBody> {
    return this.json("GET", "/callcenter/bulk-dial", { options });
  }

  /**
   * Call up to 500 numbers.
   * Queues a batch of calls, each as `POST /callcenter/dial` would place it, at its own time or at once, and none more
   * than once. The server goes on by itself: as many at a time as the account may have sessions, less one line that is
   * kept for callers. A call that no line or no balance is there for waits and is tried for 24 hours after its time.
   * Who is busy or does not answer is called again where `retries` says so. `consent_confirmed` is given once for all
   * and recorded with each call. One bad row refuses the whole batch; `detail` names it, counted from 0: `rows[3]`.
   * With an `Idempotency-Key` header the first answer is repeated for 24 hours.
   */
  bulkDial(body: NewBatch, options: Repeated = {}): Promise<BatchDetail> {
    return this.json("POST", "/callcenter/bulk-dial", { body, repeat: true, options });
  }

  /**
   * Check a batch before it is queued.
   * Takes what `POST /callcenter/bulk-dial` takes, and says of every row whether it would be refused and why, when it
   * would be called first, and what a minute costs. Nothing is queued and nobody is called, and `consent_confirmed`
   * may be left out. What is wrong with the batch as a whole refuses the request, as it would when it is queued.
   */
  checkBatch(body: NewBatch, options: Asked = {}): Promise<BatchCheck> {
    return this.json("POST", "/callcenter/bulk-dial/check", { body, options });
  }

  /**
   * Read a batch.
   * A batch with the state of each call. A call is summarized by the agent's model soon after its end; that costs
   * tokens and is part of the call's cost.
   */
  getBatch(id: string, options: Asked = {}): Promise<BatchDetail> {
    return this.json("GET", `/callcenter/bulk-dial/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Cancel a batch.
   * Calls that have not begun fail, for good; those in progress go on. A batch that is done stays done.
   */
  cancelBatch(id: string, options: Asked = {}): Promise<BatchDetail> {
    return this.json("POST", `/callcenter/bulk-dial/${encodeURIComponent(id)}/cancel`, { options });
  }

  /**
   * Pause a batch.
   * No further call of the batch begins; those in progress go on. Pausing again changes nothing.
   */
  pauseBatch(id: string, options: Asked = {}): Promise<BatchDetail> {
    return this.json("POST", `/callcenter/bulk-dial/${encodeURIComponent(id)}/pause`, { options });
  }

  /**
   * Export the results of a batch.
   * A line for each of its calls, in the order in which they were given, and behind them those that call again:
   * `to,from,agent_id,scheduled_at,status,call_id,started_at,answered_at,ended_at,duration,end_reason,end_detail,answered_by,cost,summary,error,attempt`.
   * The file is CSV as RFC 4180 has it: UTF-8, a header line, lines that end with CRLF. It shows one moment, however
   * long it takes to send. One that cannot be completed ends with a broken connection, never as if it were whole. An
   * account may export two files at once.
   */
  exportBatch(id: string, options: Asked = {}): Promise<Response> {
    return this.raw("GET", `/callcenter/bulk-dial/${encodeURIComponent(id)}/results.csv`, { options });
  }

  /**
   * Resume a batch.
   * Goes on with a batch that is paused. The 24 hours for which calls are tried begin anew.
   */
  resumeBatch(id: string, options: Asked = {}): Promise<BatchDetail> {
    return this.json("POST", `/callcenter/bulk-dial/${encodeURIComponent(id)}/resume`, { options });
  }

  /**
   * Get call status.
   * The state of a call. A call that the account does not have is answered as ended, with an empty transcript.
   */
  monitorCall(query: {
    /** The call's identifier, as dial answered. */
    call_id: string;
  }, options: Asked = {}): Promise<CallState> {
    return this.json("GET", "/callcenter/call-monitor", { query, options });
  }

  /**
   * Call people at any time.
   * Batches that are queued keep what they have.
   */
  removeCallWindow(options: Asked = {}): Promise<void> {
    return this.none("DELETE", "/callcenter/call-window", { options });
  }

  /**
   * Read when people are called.
   * The time of day in which the account calls people. 404: at any time.
   */
  getCallWindow(options: Asked = {}): Promise<CallWindow> {
    return this.json("GET", "/callcenter/call-window", { options });
  }

  /**
   * Set when people are called.
   * A call outside of it is refused with `callcenter.outside_call_window`. Batches that are queued from now on wait
   * for it, unless they have a `call_window` of their own. Calls to colleagues to whom callers are transferred are
   * placed at any time.
   */
  setCallWindow(body: CallWindow, options: Asked = {}): Promise<CallWindow> {
    return this.json("PUT", "/callcenter/call-window", { body, options });
  }

  /**
   * Place a call.
   * Calls `to` from a number of the account and lets the agent speak with the person who answers. The call costs
   * nothing unless it is answered. Landlines of fourteen countries can be called, and mobiles where the rate card's
   * `phone.outbound_mobile` has a price, in the US and Canada too. `consent_confirmed` must be `true`: you confirm
   * that the callee has agreed; the confirmation is recorded with the call and not verified. Needs a first top-up;
   * welcome credit does not pay for it. Five calls a second may be begun. With an `Idempotency-Key` header the first
   * answer is repeated for 24 hours. Where the operator traces calls, a `traceparent` header (W3C Trace Context) makes
   * the call a part of your trace.
   */
  dial(body: NewCall, options: Repeated = {}): Promise<Placed> {
    return this.json("POST", "/callcenter/dial", { body, repeat: true, options });
  }

  /**
   * Hang up a call.
   * Ends the call at once. One that has ended already answers the same.
   */
  hangUp(id: string, options: Asked = {}): Promise<HungUp> {
    return this.json("POST", `/callcenter/hangup/${encodeURIComponent(id)}`, { options });
  }

  /**
   * List the account's numbers.
   * Newest first, each with the agent that answers it. A number that was ordered is `pending` until the carrier has
   * activated it. One whose month could not be paid is `past_due`: it works on while the balance allows, and is lost
   * for good at `release_at` unless the month is paid by then, which is tried each day and whenever money comes in.
   */
  listNumbers(options: Asked = {}): Promise<ListOutputBody> {
    return this.json("GET", "/callcenter/numbers", { options });
  }

  /**
   * Buy a number.
   * Buys a number that the search has found, charges its first month at once, and binds it to an agent. 200: it is
   * yours and answers. 202: the carrier has not activated it yet; it is charged, is in the list as `pending`, and if
   * it fails after all the month is given back. Numbers are paid from what was paid in: the welcome credit does not
   * pay them. With an `Idempotency-Key` the request can be sent again within 24 hours and is answered as the first
   * time; one that was refused may be sent again with its key.
   */
  buyNumber(body: BuyInputBody, options: Repeated = {}): Promise<Number> {
    return this.json("POST", "/callcenter/numbers", { body, repeat: true, options });
  }

  /**
   * Search numbers for sale.
   * Local numbers of one country, 15 a page. The costs are the carrier's and only decide whether a number is included:
   * what is charged is `phone.number_per_month` of the rate card. One whose monthly cost is above that, or whose
   * up-front cost is above 5, cannot be bought.
   */
  searchNumbers(query: {
    /** Where. */
    country_code: "US" | "ES" | "UK" | "DE" | "FR" | "IT" | "PT";
    /** Only this town. */
    locality?: string;
    /** 15 numbers each. */
    page?: number;
    /** Only this region, as the carrier spells it. */
    region_code?: string;
  }, options: Asked = {}): Promise<SearchOutputBody> {
    return this.json("GET", "/callcenter/numbers/search", { query, options });
  }

  /**
   * Release a number.
   * Gives the number back to the carrier, for good: it cannot be recovered. No month of it is charged any more, and
   * none is given back.
   */
  releaseNumber(id: string, options: Asked = {}): Promise<Released> {
    return this.json("DELETE", `/callcenter/numbers/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Bind a number to an agent.
   * From now on calls to the number are answered by that agent, or with an empty `agent_id` by nobody. With a
   * `webhook_id` that webhook is asked about each call first, for two seconds at most: see `call.incoming`. With
   * `calls_per_hour` no more calls than that begin from the number within an hour: single ones are refused with
   * `callcenter.number_paced`, those of batches wait.
   */
  assignNumber(id: string, body: AssignInputBody, options: Asked = {}): Promise<Number> {
    return this.json("POST", `/callcenter/numbers/${encodeURIComponent(id)}/assign`, { body, options });
  }

  /**
   * Read the rules of a number.
   * Where its calls go; an empty object where it has no rules.
   */
  getNumberRules(id: string, options: Asked = {}): Promise<NumberRules> {
    return this.json("GET", `/callcenter/numbers/${encodeURIComponent(id)}/rules`, { options });
  }

  /**
   * Replace the rules of a number.
   * Sets opening hours, holidays, a menu of keys, who takes calls outside the hours, and where calls go that cannot be
   * taken. They count from the next call on. An empty object removes them: then the number's agent, or its webhook,
   * decides about all calls. `detail` names every field that is not valid, and what is allowed.
   */
  replaceNumberRules(id: string, body: NumberRules, options: Asked = {}): Promise<NumberRules> {
    return this.json("PUT", `/callcenter/numbers/${encodeURIComponent(id)}/rules`, { body, options });
  }

  /**
   * Say where a call would go.
   * Decides about a call as the number's rules would, or others that are sent, and says why. Nothing is called, stored
   * or charged.
   */
  tryNumber(id: string, body: RoutingTrial, options: Asked = {}): Promise<Routed> {
    return this.json("POST", `/callcenter/numbers/${encodeURIComponent(id)}/try`, { body, options });
  }

  /**
   * Read the schema of rules.
   * JSON Schema 2020-12 of the rules of numbers, for editors and for checks before sending.
   */
  getRulesSchema(options: Asked = {}): Promise<Record<string, unknown>> {
    return this.json("GET", "/callcenter/rules/schema", { options });
  }

  /**
   * Follow a call.
   * Server-sent events without names, each a `data:` line with a JSON object whose `type` is `snapshot` (first: the
   * fields of the monitor), `status` (`status`, `duration`, and `answered_by` once it is known, with a second
   * `connected`), `transcript` (one new line: `role`, `text`, `at`), `transcript_sync` (`transcript`: all lines, after
   * a correction) or `ended` (last: the fields of the monitor with `end_reason`). A comment comes every 15 seconds
   * when nothing happens. The stream closes after `ended`: close the EventSource then, or it connects again. A browser
   * sends a ticket as `api_key`.
   */
  followCall(query: {
    /** The call's identifier, as dial answered. */
    call_id: string;
  }, options: Asked = {}): AsyncGenerator<ServerEvent, void, void> {
    return this.events("GET", "/callcenter/sse/call-monitor", { query, options });
  }

  /**
   * Get telephony status.
   * Whether numbers can be bought and called, through which carrier, and in which countries. A server without
   * telephony answers 404 here and on every other route under `/callcenter`.
   */
  getCallcenterStatus(options: Asked = {}): Promise<Status> {
    return this.json("GET", "/callcenter/status", { options });
  }

  /**
   * List the do-not-call list.
   * Newest first. An outgoing call to one of them is refused with `callcenter.do_not_call` and costs nothing; calls
   * from them are taken. Agents with the function `opt_out` add callers who ask for it.
   */
  listDoNotCall(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListDoNotCall, DoNotCall> {
    return this.pages("GET", "/v1/do-not-call", { query, options });
  }

  /**
   * Add a number to the do-not-call list.
   * Holds from the next call on. A number that is on the list already stays as it is, and the answer shows that.
   */
  addDoNotCall(body: NewListed, options: Asked = {}): Promise<DoNotCall> {
    return this.json("POST", "/v1/do-not-call", { body, options });
  }

  /**
   * Export the do-not-call list.
   * The numbers of `GET /v1/do-not-call`, newest first, with the columns `number,reason,source,call_id,since`. A
   * reason that a spreadsheet would compute begins with an apostrophe. The file is CSV as RFC 4180 has it: UTF-8, a
   * header line, lines that end with CRLF. It shows one moment, however long it takes to send. One that cannot be
   * completed ends with a broken connection, never as if it were whole. An account may export two files at once.
   */
  exportDoNotCall(options: Asked = {}): Promise<Response> {
    return this.raw("GET", "/v1/do-not-call.csv", { options });
  }

  /**
   * Import numbers into the do-not-call list.
   * Adds a list: CSV in UTF-8, up to 20000 lines and 2 MB. When the first line has a column `number`, it names the
   * columns, of which `number` and `reason` are read, so that an export can be imported elsewhere; otherwise the first
   * column is the number and the second, if there is one, the reason. All lines are added, or none: the refusal says
   * which line is wrong. Numbers that are on the list stay as they are.
   */
  importDoNotCall(body: string, options: Asked = {}): Promise<{
    /** Numbers that were not on the list before. */
    added: number;
    /** Lines whose number was on the list, or in an earlier line. */
    known: number;
  }> {
    return this.json("POST", "/v1/do-not-call.csv", { body, contentType: "text/csv", options });
  }

  /**
   * Remove a number from the do-not-call list.
   * Entries that agents or operators made are removed, too. Make sure that the owner of the number agrees.
   */
  removeDoNotCall(number: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/do-not-call/${encodeURIComponent(number)}`, { options });
  }

  /**
   * Check the do-not-call list for a number.
   * 404: it is not on the list.
   */
  getDoNotCall(number: string, options: Asked = {}): Promise<DoNotCall> {
    return this.json("GET", `/v1/do-not-call/${encodeURIComponent(number)}`, { options });
  }

  /**
   * Put a number of your own on a trunk.
   * A number that your carrier or exchange brings by the trunk. It costs nothing here, is in the list of numbers, and
   * calls from it go out on the trunk. Release it to take it off.
   */
  addTrunkNumber(id: string, body: NewTrunkNumber, options: Repeated = {}): Promise<Number> {
    return this.json("POST", `/v1/trunks/${encodeURIComponent(id)}/numbers`, { body, repeat: true, options });
  }

  /**
   * List calls.
   * Conversations on the telephone and over WebSockets, the newest first unless `sort` says otherwise, without their
   * transcripts: all, or those that everything asked for is true of. `mos` and `end_detail` are for people who look
   * for faults; new details may come.
   */
  listCalls(query: {
    /** Only calls of this agent, also one that was deleted. */
    agent_id?: string;
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** Only these. */
    direction?: "web" | "inbound" | "outbound";
    /** Only calls that ended so. */
    end_reason?: "completed" | "user_hangup" | "agent_hangup" | "api_hangup" | "no_answer" | "busy" | "rejected" | "failed" | "voicemail" | "balance_exhausted" | "max_duration" | "unknown";
    /** You ask for the list again and again, to see what is new: such a request is not in the log of requests. */
    follow?: boolean;
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /**
     * Only calls with this header, X- or User-to-User: its name, a colon and the whole value. Capitals count in the
     * value alone.
     */
    header?: string;
    /** How many at most. */
    limit?: number;
    /** Only calls with this metadata, such as metadata[order]=42; of several names all. */
    metadata?: Metadata;
    /** Only calls from or to this number, in international format; a + is %2B in an address, and may be left out. */
    number?: string;
    /**
     * Only calls in which these words were said, by either side: all of them; in quotation marks one after another;
     * with or between them one of them; with a - in front not.
     */
    q?: string;
    /**
     * What comes first. Calls in progress have neither a length nor a cost to sort by, and of calls that were not
     * measured nobody knows how they sounded: those lists are without them.
     */
    sort?: "newest" | "oldest" | "longest" | "most_expensive" | "worst_sound";
    /** Only calls in progress, or only those that are over. */
    state?: "live" | "ended";
    /** Only calls with this tag. */
    tag?: string;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Page<ListCallSummary, CallSummary> {
    return this.pages("GET", "/v1/calls", { query, options });
  }

  /**
   * Export calls.
   * The calls that `GET /v1/calls` lists, in the same order:
   * `id,created_at,answered_at,ended_at,direction,from,to,agent_id,agent_version,status,duration,end_reason,end_detail,answered_by,cost,mos,wait_p50_ms,metadata,tags`.
   * A caller who is no telephone number, as exchanges may write one, begins with an apostrophe where a spreadsheet
   * would compute it. The file is CSV as RFC 4180 has it: UTF-8, a header line, lines that end with CRLF. It shows one
   * moment, however long it takes to send. One that cannot be completed ends with a broken connection, never as if it
   * were whole. An account may export two files at once.
   */
  exportCalls(query: {
    /** Only calls of this agent, also one that was deleted. */
    agent_id?: string;
    /** Only these. */
    direction?: "web" | "inbound" | "outbound";
    /** Only calls that ended so. */
    end_reason?: string;
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** Only calls with this header: its name, a colon and the whole value. */
    header?: string;
    /** Only calls with this metadata, such as metadata[order]=42. */
    metadata?: Record<string, string>;
    /** Only calls from or to this number, in international format. */
    number?: string;
    /** Only calls in which these words were said. */
    q?: string;
    /** What comes first, as in the list. */
    sort?: "newest" | "oldest" | "longest" | "most_expensive" | "worst_sound";
    /** Only calls in progress, or only those that are over. */
    state?: "live" | "ended";
    /** Only calls with this tag. */
    tag?: string;
    /** Before this, likewise. */
    to?: string;
  } = {}, options: Asked = {}): Promise<Response> {
    return this.raw("GET", "/v1/calls.csv", { query, options });
  }

  /**
   * Delete the transcript and recording of a call.
   * For good: transcript, events, recording, SIP messages, summary, extracted data, and what the call could be
   * replayed from. A customer database that has no note of the call yet gets none. That there was the call stays, with
   * its numbers, times, cost, sound quality and evidence of consent. Of a call that lasts nothing is kept when it
   * ends; deleting it again changes nothing.
   */
  deleteCall(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/calls/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Read a call.
   * With its transcript and the latency of each turn. While the call lasts both grow.
   */
  getCall(id: string, options: Asked = {}): Promise<CallDetail> {
    return this.json("GET", `/v1/calls/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Keep metadata, tags and a note with a call.
   * Changes what is kept with a call, of yours and not of the conversation's. What the request does not have stays as
   * it is.
   */
  updateCall(id: string, body: CallChange, options: Asked = {}): Promise<CallSummary> {
    return this.json("PATCH", `/v1/calls/${encodeURIComponent(id)}`, { body, options });
  }

  /**
   * List what the model of a call was asked.
   * Each question to the language model, the first one first, with its answer: those that were asked before the caller
   * had finished, and thrown away, too. They are stored as they happen, 1,000 of a call and about 1 MB at most, kept
   * for 30 days, and deleted with the transcript. For owners of the account.
   */
  listCallCompletions(id: string, options: Asked = {}): Promise<CallCompletions> {
    return this.json("GET", `/v1/calls/${encodeURIComponent(id)}/completions`, { options });
  }

  /**
   * Read what the model of a call was asked.
   * With the prompt, the functions and the conversation that the model was given. For owners of the account.
   */
  getCallCompletion(id: string, no: number, options: Asked = {}): Promise<CallCompletionDetail> {
    return this.json("GET", `/v1/calls/${encodeURIComponent(id)}/completions/${encodeURIComponent(no)}`, { options });
  }

  /**
   * Follow any call.
   * What `GET /callcenter/sse/call-monitor` sends, for calls of every direction, and `function`: a function of the
   * agent is called, with `outcome` null, or has its result; its fields are those of `functions` in `GET
   * /v1/calls/{id}`. While the agent speaks it also sends `speaking` (`role`, `text`, `at`) as each sentence begins:
   * what it says of its reply so far, of which a `transcript` has what was heard, if anything. Of a call that is over
   * it sends all that happened, from its beginning, and closes. With `Accept: application/json` it answers with a list
   * instead: `data` has objects with `at`, the time, and `event`, an object as in the stream. It is `complete` once
   * the call is over; before, it has the one `snapshot` of now. At most 2,000 events and 512 kB are kept of a call:
   * `omitted` earlier ones are not, and the `snapshot` has the transcript until then. A call that the account does not
   * have is not found.
   */
  followAnyCall(id: string, options: Asked = {}): AsyncGenerator<ServerEvent, void, void> {
    return this.events("GET", `/v1/calls/${encodeURIComponent(id)}/events`, { options });
  }

  /**
   * Hang up any call.
   * Ends a call of any direction at once, as `api_hangup`. One that has ended already answers the same.
   */
  hangUpAnyCall(id: string, options: Asked = {}): Promise<HungUp> {
    return this.json("POST", `/v1/calls/${encodeURIComponent(id)}/hangup`, { options });
  }

  /**
   * Listen in on a call.
   * Sends the audio of a call that is going on, until it is over or the socket is closed. Nobody in the call hears of
   * it, unless its agent has `listening_tone`: then everybody hears a soft tone at the
   * beginning, and every 15 seconds. Who listened, and when, is in the call.
   *
   * The first message is `{"type": "listening", "call_id", "sample_rate", "channels": 2}`. Then come binary messages
   * with 20 ms each: Int16 little endian, the caller on the left and the
   * other side on the right, as the caller hears it. The last is `{"type": "ended"}`. What is refused is answered by
   * one error message and close code 1008. A client that is slow misses audio.
   * Eight may listen in on a call at once. It costs nothing.
   *
   * Who may speak sends `{"type": "take_over"}`: the agent stops at once, and is silent until `{"type": "give_back"}`,
   * or the end of the socket. Meanwhile binary messages, Int16 little
   * endian at the same rate on one channel, of any length up to 200 ms, are what the caller hears. `taken_over` and
   * `given_back` answer. One person speaks at a time. What they say stands in the
   * transcript as the role `supervisor`, and the agent knows it afterwards. `{"type": "whisper", "text": "…"}` tells
   * the agent something that the caller does not hear, for its next replies.
   *
   * Once the caller is connected to a person by a transfer, a whisper is said to that person by the agent's voice, and
   * the caller does not hear it; up to four wait for their turn, and more are dropped. `{"type": "coach"}` lets only
   * that person hear what you say, sent as above; `coaching` answers, and `give_back` ends it. What the two say is
   * sent to you where the agent has `record_transfers`.
   */
  listenIn(id: string, options: Asked = {}): Promise<void> {
    return this.none("GET", `/v1/calls/${encodeURIComponent(id)}/listen`, { options });
  }

  /**
   * Read how a call sounded.
   * What the network did to the audio of a telephone call, stored each minute while it lasts and once more when it is
   * over; the call has its `mos` then. What was not measured is 0: without reports of the far end (RTCP), which many
   * carriers do not send, nothing is known of what it heard, nor of the round trip. A call over a WebSocket, and one
   * that was not answered so far, has `available: false`.
   */
  getCallQuality(id: string, options: Asked = {}): Promise<CallQuality> {
    return this.json("GET", `/v1/calls/${encodeURIComponent(id)}/quality`, { options });
  }

  /**
   * Delete the recording of a call.
   * For good. That there was one stays with the call. What is deleted while the call lasts is not kept when it ends;
   * deleting it again changes nothing.
   */
  deleteCallRecording(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/calls/${encodeURIComponent(id)}/recording`, { options });
  }

  /**
   * Fetch the recording of a call.
   * The caller on the left, on the right what the caller heard, as Opus in Ogg; where a server has no encoder, and
   * with format=wav, as WAV. Parts of it can be asked for (Range). It is there some seconds after the end of the call,
   * for as long as the account keeps recordings.
   */
  getCallRecording(id: string, query: {
    /** What it is to be; without it as it is kept, which is ogg but where a server has no encoder. */
    format?: "ogg" | "wav";
  } = {}, options: Asked = {}): Promise<Response> {
    return this.raw("GET", `/v1/calls/${encodeURIComponent(id)}/recording`, { query, options });
  }

  /**
   * Fetch the waveform of a recording.
   * How loud each side was over the time of the recording, in at most 1,200 equal parts: enough to draw it, however
   * long it is, without its audio. It is made with the recording, and goes with it.
   */
  getCallWaveform(id: string, options: Asked = {}): Promise<Waveform> {
    return this.json("GET", `/v1/calls/${encodeURIComponent(id)}/recording/peaks`, { options });
  }

  /**
   * Read the signalling of a call.
   * The SIP messages of a telephone call as they were sent and received, oldest first, stored every few seconds while
   * it lasts and once more when it is over: at most 200 messages and 128 kB; `dropped` earlier ones are not kept.
   * Credentials, keys of encryption and digits are masked. A call over a WebSocket has none.
   */
  getCallSip(id: string, options: Asked = {}): Promise<SIPTrace> {
    return this.json("GET", `/v1/calls/${encodeURIComponent(id)}/sip`, { options });
  }

  /**
   * Send the audio of a call to a WebSocket.
   * Sends the audio of a call that is going on to a WebSocket of yours, until the call is over, the stream is deleted
   * or your server closes the socket. The messages are those of
   * Twilio's Media Streams: `connected`, `start`, `media` and `stop`, with audio of 20 ms in PCMU at 8 kHz; track
   * `inbound` is what the person on the line says, `outbound` what they hear. `streamSid`, `accountSid` and `callSid`
   * are the identifiers of Parley. What you send is ignored. A server that is slow misses audio, and `timestamp` goes
   * on; one that takes nothing for 5 s loses the stream.
   *
   * Nobody in the call hears of it; who asked for it, when, and the host it went to are in the call. Streams and
   * people who listen in are eight at most. It costs nothing.
   */
  startStream(id: string, body: NewStream, options: Asked = {}): Promise<Stream> {
    return this.json("POST", `/v1/calls/${encodeURIComponent(id)}/streams`, { body, options });
  }

  /**
   * Stop a stream.
   * Ends one stream of a call; the call goes on.
   */
  stopStream(id: string, stream: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/calls/${encodeURIComponent(id)}/streams/${encodeURIComponent(stream)}`, { options });
  }

  /**
   * List the evidence of consent.
   * Who confirmed that the callee of a call had agreed, the oldest first: one row for each call that was placed. Rows
   * are numbered from 1 without gaps and never change. `seal` is the SHA-256 of the `seal` of the row before it
   * (nothing for row 1), `account_id`, `call_id`, `agent_id`, `key_id`, `ip`, `at` as it is written here, and
   * `to_hash`, each preceded by its length in bytes as eight bytes, the highest first; seals and hashes count as 32
   * bytes. So the last seal vouches for all rows. `to_hash` is of the number called, keyed by a secret of the server:
   * the evidence can be kept when the call's history is not.
   */
  listConsents(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListConsent, Consent> {
    return this.pages("GET", "/v1/consents", { query, options });
  }

  /**
   * Export the evidence of consent.
   * The rows of `GET /v1/consents` with the columns `no,account_id,call_id,agent_id,to_hash,key_id,ip,at,seal`. The
   * file is CSV as RFC 4180 has it: UTF-8, a header line, lines that end with CRLF. It shows one moment, however long
   * it takes to send. One that cannot be completed ends with a broken connection, never as if it were whole. An
   * account may export two files at once.
   */
  exportConsents(options: Asked = {}): Promise<Response> {
    return this.raw("GET", "/v1/consents.csv", { options });
  }

  /**
   * Read how quickly agents answered.
   * What half, nine tenths, 95 and 99 of a hundred turns took at most, stage by stage, by day, by hour or by agent,
   * over the last 30 days or a range of up to 92, 31 by the hour, and of at most 100,000 calls, the newest. Calls in
   * progress count with the turns that are stored.
   */
  getLatency(query: {
    /** Only calls of this agent, also one that was deleted. */
    agent_id?: string;
    /** next_cursor of the page before; send the same from and to. */
    cursor?: string;
    /** Only these. */
    direction?: "web" | "inbound" | "outbound";
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** What is summed up together. */
    group_by?: "day" | "hour" | "agent";
    /** How many groups at most. */
    limit?: number;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Page<LatencyList, LatencyGroup> {
    return this.pages("GET", "/v1/latency", { query, options });
  }

  /**
   * Read how quickly engines answered.
   * What half and 95 of a hundred turns waited at most for a language model's first words, or a voice's first audio,
   * engine by engine, over the last 7 days or a range of up to 92, of at most 1,000 calls, the newest. A call that is
   * over counts for a stage in which one engine alone served it.
   */
  getEngineLatency(query: {
    /** Only calls of this agent, also one that was deleted. */
    agent_id?: string;
    /** Only these. */
    direction?: "web" | "inbound" | "outbound";
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Promise<EngineLatencyList> {
    return this.json("GET", "/v1/latency/engines", { query, options });
  }

  /**
   * Read statistics of calls.
   * Figures of the calls that began on some days and have ended: how many, how many were answered, their length and
   * cost, how they ended, and how long turns waited for each stage and engine. It holds each call as soon as it has
   * ended, also when its transcript was deleted. `cost` is that of the calls, to the last decimal; `GET /v1/usage` has
   * the same by the day on which it was charged, beside what is no call. Latencies are counted in buckets, and are
   * within 4.5 %; `GET /v1/latency` has exact ones of fewer days. Those of engines leave out calls that came with a
   * demonstration.
   */
  getStatistics(query: {
    /** Only calls of this agent, also one that was deleted. */
    agent_id?: string;
    /** Only these. */
    direction?: "web" | "inbound" | "outbound";
    /** The first day (UTC); without it 30 days before to. */
    from?: string;
    /** What is also summed up by itself; without it both. */
    group_by?: Array<"day" | "agent"> | null;
    /** The day after the last, at most 400 days after from; without it today counts. */
    to?: string;
  } = {}, options: Asked = {}): Promise<Statistics> {
    return this.json("GET", "/v1/statistics", { query, options });
  }

  /**
   * The limits of requests.
   * What synthesis requests may ask for, and the format of what comes back.
   */
  getConfig(options: Asked = {}): Promise<Limits> {
    return this.json("GET", "/config", { options });
  }

  /**
   * Whether the server is ready.
   * `warming_up` also when something it needs has gone. The checks are at most a second old. No credential is needed;
   * with an API key the answer says more.
   */
  getHealth(options: Asked = {}): Promise<HealthReport> {
    return this.json("GET", "/health", { options });
  }

  /**
   * The languages.
   * What can be spoken, and what this server can also recognise.
   */
  getLanguages(options: Asked = {}): Promise<LanguageList> {
    return this.json("GET", "/languages", { options });
  }

  /**
   * The engines of this server.
   * What speaks, recognises and answers here, those that speak first.
   */
  getModels(options: Asked = {}): Promise<ModelList> {
    return this.json("GET", "/models", { options });
  }

  /**
   * The server's numbers.
   * How long the server has run and what it is doing. Its numbers are for API keys; without one they are 0.
   */
  getStatus(options: Asked = {}): Promise<ServerReport> {
    return this.json("GET", "/status", { options });
  }

  /**
   * The voices.
   * Ten voices, each of which speaks every language.
   */
  getVoices(options: Asked = {}): Promise<VoiceList> {
    return this.json("GET", "/voices", { options });
  }

  /**
   * List the account's keys for engines.
   * By engine. The keys themselves are never shown, only their last four characters.
   */
  listEngineKeys(query: {
    /** next_cursor of the page before. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListEngineKey, EngineKey> {
    return this.pages("GET", "/v1/engine-keys", { query, options });
  }

  /**
   * Delete a key for an engine.
   * Conversations in progress go on with it.
   */
  deleteEngineKey(engine: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/engine-keys/${encodeURIComponent(engine)}`, { options });
  }

  /**
   * Set a key for an engine.
   * Conversations that begin from now on have the engine work with this key in place of the operator's, and so has
   * what a language model makes of calls afterwards; synthesis, recognition and noise removal without a conversation
   * are the operator's. What the engine uses on the key is paid to its vendor, and recorded at price 0 unless the rate
   * card says otherwise (`llm.own_key_input_per_million_tokens`). Which model, address and options it has stays the
   * operator's and the agent's. The key is stored encrypted and never shown again; one that was there is replaced.
   * When the vendor refuses it, the next engine of the agent's list takes over, the account gets the event
   * `engine_key.refused`, once, and the key is not used again until it is set anew or passes a test: till then the
   * engine works with the operator's key, where it has one.
   */
  putEngineKey(engine: string, body: PutEngineKeyRequest, options: Asked = {}): Promise<EngineKey> {
    return this.json("PUT", `/v1/engine-keys/${encodeURIComponent(engine)}`, { body, options });
  }

  /**
   * Test a key for an engine.
   * Makes one small request to the vendor, who charges the key's owner for it, and says how long that took: half a
   * second of silence is recognised, yes is answered or spoken. A key that was refused is used again when it passes.
   * An account may have ten tests at once and ten a minute.
   */
  testEngineKey(engine: string, options: Asked = {}): Promise<EngineTest> {
    return this.json("POST", `/v1/engine-keys/${encodeURIComponent(engine)}/test`, { options });
  }

  /**
   * List the account's API keys.
   * Newest first, revoked ones too. A key itself is never shown again, only its last four characters.
   */
  listKeys(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListAPIKey, APIKey> {
    return this.pages("GET", "/v1/keys", { query, options });
  }

  /**
   * Create an API key.
   * The answer is the only one that holds the key: keep it. With the role owner it may change who belongs to the
   * account; with the mark money, what is paid: automatic recharge and limits of spending. Only owners make such keys:
   * by their sign-in, or by a key with that role and, for keys with the mark, the mark. With the mark listen it may
   * listen in on calls, with the mark speak it may speak in them, too; owners make such keys.
   */
  createKey(body: NewKey, options: Repeated = {}): Promise<CreatedKey> {
    return this.json("POST", "/v1/keys", { body, repeat: true, options });
  }

  /**
   * Revoke an API key.
   * It ends for good and at once, and with it every ticket that was made from it; what is in progress goes on.
   * Revoking it again changes nothing. The key that the request is made with may be revoked too: the next request
   * needs another, which the operator can make when none is left. Keys with the role owner or the mark money are
   * revoked by themselves and by owners.
   */
  revokeKey(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/keys/${encodeURIComponent(id)}`, { options });
  }

  /**
   * List the account's collections.
   * The newest first.
   */
  listKnowledgeBases(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListKnowledgeBase, KnowledgeBase> {
    return this.pages("GET", "/v1/knowledge", { query, options });
  }

  /**
   * Create a collection.
   * An account has 50 at most, with 200 MB of documents together. Agents name it in `settings.knowledge_bases`.
   */
  createKnowledgeBase(body: NewKnowledgeBase, options: Repeated = {}): Promise<KnowledgeBase> {
    return this.json("POST", "/v1/knowledge", { body, repeat: true, options });
  }

  /**
   * Delete a collection.
   * With its documents. Agents that name it find nothing in it any more.
   */
  deleteKnowledgeBase(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/knowledge/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Read a collection.
   * With how many documents it has.
   */
  getKnowledgeBase(id: string, options: Asked = {}): Promise<KnowledgeBase> {
    return this.json("GET", `/v1/knowledge/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Rename a collection.
   * Its language stays.
   */
  updateKnowledgeBase(id: string, body: KnowledgeBaseChange, options: Asked = {}): Promise<KnowledgeBase> {
    return this.json("PATCH", `/v1/knowledge/${encodeURIComponent(id)}`, { body, options });
  }

  /**
   * List a collection's documents.
   * The newest first.
   */
  listKnowledgeDocuments(id: string, query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListKnowledgeDocument, KnowledgeDocument> {
    return this.pages("GET", `/v1/knowledge/${encodeURIComponent(id)}/documents`, { query, options });
  }

  /**
   * Add a document to a collection.
   * A file as a form, or an address in JSON. It is read in the background: `state` says how far it is, and `reason`
   * why it could not be read. A collection has 500 documents at most. Pictures of text are not read.
   */
  addKnowledgeDocument(id: string, body: NewKnowledgeAddress | {
    /**
     * PDF, DOCX, HTML, Markdown or plain text, 20 MB at most. Its content decides what it is, and its name between
     * formats of text.
     */
    file: Blob;
    /** What the document is called; without it as its file is. */
    title?: string;
  }, options: Repeated = {}): Promise<KnowledgeDocument> {
    return this.json("POST", `/v1/knowledge/${encodeURIComponent(id)}/documents`, { body, repeat: true, options });
  }

  /**
   * Delete a document.
   * With its passages.
   */
  deleteKnowledgeDocument(id: string, document: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/knowledge/${encodeURIComponent(id)}/documents/${encodeURIComponent(document)}`, { options });
  }

  /**
   * Read a document.
   * What is known of it, and whether it is found.
   */
  getKnowledgeDocument(id: string, document: string, options: Asked = {}): Promise<KnowledgeDocument> {
    return this.json("GET", `/v1/knowledge/${encodeURIComponent(id)}/documents/${encodeURIComponent(document)}`, { options });
  }

  /**
   * Fetch an address again.
   * What it said before is found until then, and stays when it cannot be fetched. A file is read once.
   */
  refreshKnowledgeDocument(id: string, document: string, options: Asked = {}): Promise<KnowledgeDocument> {
    return this.json("POST", `/v1/knowledge/${encodeURIComponent(id)}/documents/${encodeURIComponent(document)}/refresh`, { options });
  }

  /**
   * Search a collection.
   * As agents do in calls. Passages with all of the words come first; where they are few, passages with any of the
   * words follow. Where the server has an embeddings engine, those that are nearest by what they mean are merged with
   * them. It is free.
   */
  searchKnowledgeBase(id: string, body: KnowledgeQuestion, options: Asked = {}): Promise<KnowledgeAnswer> {
    return this.json("POST", `/v1/knowledge/${encodeURIComponent(id)}/search`, { body, options });
  }

  /**
   * List text messages.
   * Those that were sent and those that came in, newest first: all, or those of which everything that is asked for is
   * true.
   */
  listMessages(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** Only these. */
    direction?: "inbound" | "outbound";
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** How many at most. */
    limit?: number;
    /**
     * Only messages from or to this number of the account, in international format; a + is %2B in an address, and may
     * be left out.
     */
    number?: string;
    /** Only messages to or from this number of somebody else, likewise. */
    peer?: string;
    /** Only these. */
    status?: "queued" | "sent" | "delivered" | "failed" | "received";
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Page<ListMessage, Message> {
    return this.pages("GET", "/v1/messages", { query, options });
  }

  /**
   * Send a text message.
   * Queues a text message (SMS) from a number that the account has bought here, and holds its price:
   * `phone.message_outbound` of the rate card, for each segment. 202: it is on its way, and its status, or a webhook,
   * says later how it went. It is charged when the carrier has taken it, and costs nothing when the carrier refuses
   * it. A number on the account's do-not-call list is refused, and so is a destination that cannot be called; the
   * hours of calls do not count. Messages are paid from what was paid in. An account sends five messages a second,
   * calls that it places included.
   */
  sendMessage(body: NewMessage, options: Repeated = {}): Promise<Message> {
    return this.json("POST", "/v1/messages", { body, repeat: true, options });
  }

  /**
   * Delete the text of a message.
   * Deletes what it says, for good. That there was the message stays: with whom, when and what it cost. One that is
   * still queued answers 404.
   */
  deleteMessage(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/messages/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Read a text message.
   * What it says, how far it is, and what it cost.
   */
  getMessage(id: string, options: Asked = {}): Promise<Message> {
    return this.json("GET", `/v1/messages/${encodeURIComponent(id)}`, { options });
  }

  /**
   * List the server's accounts.
   * Newest first.
   */
  listAccounts(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListAccount, Account> {
    return this.pages("GET", "/v1/operator/accounts", { query, options });
  }

  /**
   * Make an account.
   * With its welcome credit. The operator owns it at first; with `create_key` the answer holds an API key of the
   * account with the role owner and the mark money, shown this once, with which the owner can be invited.
   */
  createAccount(body: NewAccount, options: Repeated = {}): Promise<CreatedAccount> {
    return this.json("POST", "/v1/operator/accounts", { body, repeat: true, options });
  }

  /**
   * Read an account.
   * With its people.
   */
  getAccount(id: string, options: Asked = {}): Promise<AccountDetail> {
    return this.json("GET", `/v1/operator/accounts/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Suspend an account, change its limits.
   * What is not sent stays. Suspended, an account starts nothing new, and its conversations say goodbye and end within
   * seconds.
   */
  updateAccount(id: string, body: AccountChangeBody, options: Asked = {}): Promise<AccountDetail> {
    return this.json("PATCH", `/v1/operator/accounts/${encodeURIComponent(id)}`, { body, options });
  }

  /**
   * Resolve all disputes of an account.
   * Calls and jobs may start again. Do this when the payment provider has decided. Without a dispute it changes
   * nothing.
   */
  resolveDisputes(id: string, options: Asked = {}): Promise<AccountDetail> {
    return this.json("POST", `/v1/operator/accounts/${encodeURIComponent(id)}/resolve-disputes`, { options });
  }

  /**
   * Check what the server needs.
   * Ports, engines, the database and what else `parley doctor` looks at, on the server that is asked. It takes
   * seconds; within five of the last time its findings are repeated.
   */
  checkSetup(options: Asked = {}): Promise<CheckList> {
    return this.json("GET", "/v1/operator/checks", { options });
  }

  /**
   * List the server's nodes.
   * The processes that share the database, as it knows them, whichever of them is asked: those that live, and those
   * that have been silent for up to a week. One that was stopped in good order is not among them. Times are by the
   * database's clock.
   */
  listNodes(options: Asked = {}): Promise<NodeList> {
    return this.json("GET", "/v1/operator/nodes", { options });
  }

  /**
   * Sum up what engines used for all accounts.
   * As `GET /v1/usage/engines`, with what vendors charge where the server's settings say that: `cost`, beside the
   * `price` that accounts pay.
   */
  getEngineUsageOfAll(query: {
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Promise<EngineTotals> {
    return this.json("GET", "/v1/operator/usage/engines", { query, options });
  }

  /**
   * List who signs in to the server.
   * Newest first.
   */
  listUsers(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListUser, User> {
    return this.pages("GET", "/v1/operator/users", { query, options });
  }

  /**
   * Delete a user.
   * With their sign-ins, operator's keys and memberships. The last owner of an account that has other people cannot
   * go. The answer is as for somebody who is disabled.
   */
  deleteUser(id: string, query: {
    /** What happens to keys of accounts that they made. */
    keys?: "keep" | "revoke";
  } = {}, options: Asked = {}): Promise<Removal> {
    return this.json("DELETE", `/v1/operator/users/${encodeURIComponent(id)}`, { query, options });
  }

  /**
   * Disable a user, or take an operator's role away.
   * A disabled user cannot sign in: their sign-ins, links and invitations end at once, and their operator's keys open
   * nothing. Operators are made on the server only (`parley admin user role`). The answer names the keys of accounts
   * that somebody who is disabled made, also by a key of theirs, and that were good: with `keys=revoke` these end,
   * else they stay good.
   */
  updateUser(id: string, body: UserChangeBody, query: {
    /** What happens to keys of accounts that they made. */
    keys?: "keep" | "revoke";
  } = {}, options: Asked = {}): Promise<ChangedUser> {
    return this.json("PATCH", `/v1/operator/users/${encodeURIComponent(id)}`, { body, query, options });
  }

  /**
   * List invitations.
   * Those that are still good and were not accepted, the newest first.
   */
  listInvitations(query: {
    /** next_cursor of the page before. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListInvitation, Invitation> {
    return this.pages("GET", "/v1/invitations", { query, options });
  }

  /**
   * Invite somebody.
   * The answer is the only one that holds the link: send it to them. Nothing is mailed. It opens once, within seven
   * days; an earlier one for the same address is dead. Who is new chooses a password with it, who is a user already
   * signs in.
   */
  createInvitation(body: NewInvitation, options: Repeated = {}): Promise<CreatedInvitation> {
    return this.json("POST", "/v1/invitations", { body, repeat: true, options });
  }

  /**
   * Take an invitation back.
   * Its link opens nothing from then on.
   */
  revokeInvitation(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/invitations/${encodeURIComponent(id)}`, { options });
  }

  /**
   * List the people of the account.
   * Owners first. There are 100 at most, invitations counted.
   */
  listMembers(query: {
    /** next_cursor of the page before. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListMember, Member> {
    return this.pages("GET", "/v1/members", { query, options });
  }

  /**
   * Remove somebody.
   * They no longer see the account, and invitations that they made open nothing. The answer names the keys of the
   * account that they made, also by a key of theirs, and that were good: with `keys=revoke` these end with them, else
   * they stay good. The last owner cannot be removed.
   */
  removeMember(userId: string, query: {
    /** What happens to keys that they made. */
    keys?: "keep" | "revoke";
  } = {}, options: Asked = {}): Promise<Removal> {
    return this.json("DELETE", `/v1/members/${encodeURIComponent(userId)}`, { query, options });
  }

  /**
   * Change what somebody may do.
   * Their role, whether they may listen in on calls, or speak in them; who may speak may listen. It counts from their
   * next request on. The last owner stays one. A key makes owners only if it has the mark money, which owners have.
   */
  updateMember(userId: string, body: MemberChangeBody, options: Asked = {}): Promise<Member> {
    return this.json("PATCH", `/v1/members/${encodeURIComponent(userId)}`, { body, options });
  }

  /**
   * List what was asked with the account's keys.
   * Requests with a key or a ticket of the account, the newest first: those of the last 7 days, 10,000 at most. One is
   * there a second or two after its answer; where the server is very busy some may be missing. Requests whose
   * credential was refused belong to nobody, and what people do on the pages is not among them, nor are requests with
   * `follow=true`.
   */
  listRequests(query: {
    /** Only those that were answered with this error. */
    code?: string;
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** You ask for the list again and again, to see what is new: such a request is not in the log of requests. */
    follow?: boolean;
    /** Not before this: a date, which begins at midnight UTC, or an RFC 3339 time. */
    from?: string;
    /** Only those with this key, or a ticket made from it. */
    key_id?: string;
    /** How many at most. */
    limit?: number;
    /** Only these. */
    method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    /** Only those that were done, that were refused (a status from 400 to 499), or that failed (500 and above). */
    outcome?: "done" | "refused" | "failed";
    /** Only those of this route, as the answer has it. */
    route?: string;
    /** Before this, likewise: 2026-04-01 includes all of March. */
    to?: string;
  } = {}, options: Asked = {}): Page<ListRequestSummary, RequestSummary> {
    return this.pages("GET", "/v1/requests", { query, options });
  }

  /**
   * Read a request.
   * With its body, if that was JSON, and the command that sends it again.
   */
  getRequest(id: string, options: Asked = {}): Promise<RequestDetail> {
    return this.json("GET", `/v1/requests/${encodeURIComponent(id)}`, { options });
  }

  /**
   * List the account's secrets.
   * By name. Values are never shown.
   */
  listSecrets(query: {
    /** next_cursor of the page before. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListAccountSecret, AccountSecret> {
    return this.pages("GET", "/v1/secrets", { query, options });
  }

  /**
   * Delete a secret.
   * Functions that refer to it fail from the next conversation on.
   */
  deleteSecret(name: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/secrets/${encodeURIComponent(name)}`, { options });
  }

  /**
   * Store a secret.
   * Functions of agents refer to it as `{{secret.NAME}}`, in headers and queries. It is sent to its `hosts` only: bind
   * each secret, for one that is not bound goes wherever a function of the account sends it. An account keeps 100 at
   * most. What was there under the name is replaced; conversations in progress go on with what they began with. The
   * value is stored encrypted and never shown again.
   */
  putSecret(name: string, body: SecretInputBody, options: Asked = {}): Promise<AccountSecret> {
    return this.json("PUT", `/v1/secrets/${encodeURIComponent(name)}`, { body, options });
  }

  /**
   * How the service is.
   * Whether the engines, the database and the storage work, by checks that are at most a second old.
   */
  getServiceHealth(options: Asked = {}): Promise<ServiceHealth> {
    return this.json("GET", "/api/status/health", { options });
  }

  /**
   * The engines and whether they are ready.
   * One that is not says why.
   */
  getServiceModels(options: Asked = {}): Promise<ServiceModels> {
    return this.json("GET", "/api/status/models", { options });
  }

  /**
   * The voices by gender and character.
   * May be kept for a day.
   */
  getServiceVoices(options: Asked = {}): Promise<ServiceVoices> {
    return this.json("GET", "/api/status/voices", { options });
  }

  /**
   * List the account's sounds.
   * The newest first.
   */
  listSounds(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListSound, Sound> {
    return this.pages("GET", "/v1/sounds", { query, options });
  }

  /**
   * Add a sound.
   * Callers of agents that name it in `settings.hold_sound` hear it while this server calls somebody for them, again
   * and again. The file is WAV, or MP3, AAC, Ogg, WebM, MP4 or FLAC where the server can read these; at most 25 MB and
   * three minutes. It is kept as telephones play it (G.722), and fades for 10 ms at both ends. An account has 32
   * sounds at most. It costs nothing.
   */
  addSound(body: {
    /** The recording. */
    audio: Blob;
    /** What the sound is called: 1 to 100 characters, in one line. */
    name?: string;
  }, query: {
    /** What the sound is called, where the form does not say it. */
    name?: string;
  } = {}, options: Repeated = {}): Promise<Sound> {
    return this.json("POST", "/v1/sounds", { body, query, repeat: true, options });
  }

  /**
   * Delete a sound.
   * Calls in which it plays go on with it. After them callers of agents that name it hear the ringing tone.
   */
  deleteSound(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/sounds/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Fetch the audio of a sound.
   * As it is played: one channel at 16 kHz, 16 bits.
   */
  getSoundAudio(id: string, options: Asked = {}): Promise<Response> {
    return this.raw("GET", `/v1/sounds/${encodeURIComponent(id)}/audio`, { options });
  }

  /**
   * Cancel a task.
   * One that is pending or processing stops, costs nothing and is not known any more. One that has ended stays as it
   * is.
   */
  cancelTask(taskId: string, options: Asked = {}): Promise<CanceledOutputBody> {
    return this.json("DELETE", `/api/tts/tasks/${encodeURIComponent(taskId)}`, { options });
  }

  /**
   * Get task status.
   * The status goes from `pending` to `processing` to `completed` or `failed`, never back. Ended tasks are kept for a
   * week.
   */
  getTask(taskId: string, options: Asked = {}): Promise<Task> {
    return this.json("GET", `/api/tts/tasks/${encodeURIComponent(taskId)}`, { options });
  }

  /**
   * Fetch the audio of a completed task.
   * For a day after its completion.
   */
  downloadTask(taskId: string, options: Asked = {}): Promise<Response> {
    return this.raw("GET", `/api/tts/tasks/${encodeURIComponent(taskId)}/download`, { options });
  }

  /**
   * Speak a long text in the background.
   * For texts of up to 100,000 characters. The answer names a task: ask for it every 2 to 5 seconds, and fetch the
   * audio when it is completed. The price of the whole text is held now and charged when the task completes; one that
   * fails or is cancelled is free. An account may have five tasks waiting or running; they do not count as sessions.
   */
  submitTask(voiceId: string, body: SubmitInputBody, options: Repeated = {}): Promise<Task> {
    return this.json("POST", `/api/tts/${encodeURIComponent(voiceId)}/async`, { body, repeat: true, options });
  }

  /**
   * Remove the noise from a recording.
   * Steady noise goes (hiss, hum, a car, a fan); other people's voices stay. The file is WAV, or MP3, AAC, Ogg, WebM,
   * MP4 or FLAC where the server can read these; its content decides, not its name. At most 25 MB and two hours. The
   * answer has one channel, the rate of the recording and exactly its length. Charged by the second of audio.
   */
  denoise(body: {
    /** The recording. */
    audio: Blob;
  }, query: {
    /**
     * What cleans it: spectral, over the whole band; or gtcrn, a neural network that removes more of a car and of
     * hiss, but also of voices where others talk, and what is above 8 kHz. It takes twenty times as long, one
     * recording at a time.
     */
    engine?: "spectral" | "gtcrn";
  } = {}, options: Asked = {}): Promise<Response> {
    return this.raw("POST", "/denoise", { body, query, options });
  }

  /**
   * Transcribe a recording.
   * Takes a file of at most 25 MB and two hours, as a form or in JSON, and answers with its text when all of it is
   * recognised. The length of the audio is charged, per second; a request that fails costs nothing. A recording in
   * which nobody speaks has an empty text.
   */
  transcribe(body: {
    /** The recording. */
    audio: string;
    /** pcm16 is Int16 little endian in one channel. */
    format?: "pcm16" | "wav";
    /** en, es, pt, fr, it or de, with or without a region; without it the recogniser finds out. */
    language?: string;
    /** Samples a second of pcm16; 16000 without it. */
    sample_rate?: number;
  } | {
    /**
     * WAV, MP3, AAC, Ogg, WebM, MP4, FLAC, or Int16 little endian PCM with a sample_rate. Its content decides, not its
     * name.
     */
    audio: Blob;
    /** en, es, pt, fr, it or de, with or without a region; without it the recogniser finds out. */
    language?: string;
    /** Samples a second of audio without a header. */
    sample_rate?: number;
  }, options: Asked = {}): Promise<Transcription> {
    return this.json("POST", "/stt/transcribe", { body, options });
  }

  /**
   * Speak a text, answered with a WAV file.
   * The whole file comes at once, when all of it has been made; a minute is the longest it may take. `voice` and
   * `language` must be sent. Charged by the character (Unicode code point), and only when it has succeeded.
   */
  synthesize(body: Ask, options: Asked = {}): Promise<Response> {
    return this.raw("POST", "/tts/synthesize", { body, options });
  }

  /**
   * Make a ticket for one agent's conversations.
   * A session ticket may be given to strangers. It opens conversations with one agent of the account, over
   * `/ws/agent`, and nothing else: every other route answers 403 `auth.ticket_not_allowed`. `agent_id` need not be
   * sent with it, and another agent's is refused. What the client sends of voice, language, prompt and tools is
   * ignored.
   *
   * When it has started `max_sessions` conversations, the next is refused with `auth.time_limited`, on the socket in
   * an error message followed by close code 1008. A conversation that the client gives up before `prompt_set` does not
   * count. At `max_duration_seconds` the agent says goodbye and ends the conversation, and so it does when the
   * conversation has cost `max_cost`, or the model would have to read more than the rest of that pays for;
   * `end_detail` is `ticket_cost` then.
   */
  createSessionTicket(body: NewSessionTicket, options: Asked = {}): Promise<MintedForAgent> {
    return this.json("POST", "/v1/session-tickets", { body, options });
  }

  /**
   * Make a ticket for some routes.
   * Makes a ticket that opens only the groups of routes in `scope`, for `expires_in` seconds: `conversations`
   * (`/ws/agent`, `/webrtc/agent`), `synthesis` (`/ws/tts`, `/ws`, `/tts/*`, `/api/tts/*`), `recognition` (`/ws/stt`,
   * `/stt/*`), `denoising` (`/denoise`), `calls` (`/callcenter/*` that dials, follows and hangs up calls, and queues
   * them in bulk) and `numbers` (`/callcenter/numbers*`, `/callcenter/agents`). `/mcp` belongs to `synthesis`, `calls`
   * and `numbers`: each of its tools opens what the route opens that it asks. Every other route that needs a
   * credential answers 403 `auth.ticket_not_allowed`. Without `scope` it opens what a ticket of `/ws-ticket` opens.
   *
   * It takes an API key only. A ticket that is made from this one by `/ws-ticket` opens the same and ends with it.
   */
  createScopedTicket(body: NewTicket, options: Asked = {}): Promise<MintedScoped> {
    return this.json("POST", "/v1/tickets", { body, options });
  }

  /**
   * Make a ticket for a browser.
   * A ticket opens what an API key opens, except management (`/v1/*`), for ten minutes and as often as you like. Send
   * it as a key is sent; in browsers, whose WebSocket and EventSource cannot set headers, as `api_key` in the query.
   * Make tickets on your own server, for people who have signed in there: the key stays there.
   *
   * The credential must come in a header. A ticket may be sent instead of a key: the new one ends when the old one
   * does. Conversations and streams that are open when a ticket expires go on. Revoking the key ends its tickets. A
   * body is not needed and not read.
   */
  createTicket(options: Asked = {}): Promise<Minted> {
    return this.json("POST", "/ws-ticket", { options });
  }

  /**
   * List the presets of trunks.
   * Settings for exchanges and carriers that many have, and what to enter on their side. A trunk takes one by its name
   * as `preset`.
   */
  listTrunkPresets(query: {
    /** next_cursor of the page before. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListTrunkPreset, TrunkPreset> {
    return this.pages("GET", "/v1/trunk-presets", { query, options });
  }

  /**
   * List the account's trunks.
   * The newest first, each with how it does on the node that answers.
   */
  listTrunks(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListTrunk, Trunk> {
    return this.pages("GET", "/v1/trunks", { query, options });
  }

  /**
   * Create a trunk.
   * A line to a carrier or an exchange (PBX). It works within seconds, on every node. An account has 20 at most. Calls
   * that come on it reach the account's numbers and the trunk's extensions, and nobody else's; calls from numbers that
   * are put on it go out on it, at the rate card's `phone.own_trunk_per_minute`.
   */
  createTrunk(body: NewTrunk, options: Repeated = {}): Promise<Trunk> {
    return this.json("POST", "/v1/trunks", { body, repeat: true, options });
  }

  /**
   * Delete a trunk.
   * Calls in progress go on. The numbers on it must be released before.
   */
  deleteTrunk(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/trunks/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Read a trunk.
   * By its identifier or its name, without its passwords.
   */
  getTrunk(id: string, options: Asked = {}): Promise<Trunk> {
    return this.json("GET", `/v1/trunks/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Replace the settings of a trunk.
   * All of them: what is not sent is as in a new trunk, of the same preset if one is sent. A password that is not sent
   * stays as long as its user does, a key as long as its certificate. Calls go on as they began; a registration is
   * renewed.
   */
  replaceTrunk(id: string, body: NewTrunk, options: Asked = {}): Promise<Trunk> {
    return this.json("PUT", `/v1/trunks/${encodeURIComponent(id)}`, { body, options });
  }

  /**
   * Check a trunk.
   * Asks each of its servers now, by OPTIONS, and says how they do and how the registration stands. An account may
   * have ten checks at once and ten a minute.
   */
  checkTrunk(id: string, options: Asked = {}): Promise<Trunk> {
    return this.json("POST", `/v1/trunks/${encodeURIComponent(id)}/check`, { options });
  }

  /**
   * List the account's webhooks.
   * The newest first.
   */
  listWebhooks(query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListWebhook, Webhook> {
    return this.pages("GET", "/v1/webhooks", { query, options });
  }

  /**
   * Create a webhook.
   * An account has 10 at most. The answer is the only one that holds the secret: keep it. The address must be on the
   * public Internet and take https, unless it listens.
   */
  createWebhook(body: NewWebhook, options: Repeated = {}): Promise<SecretWebhook> {
    return this.json("POST", "/v1/webhooks", { body, repeat: true, options });
  }

  /**
   * Delete a webhook.
   * With its deliveries.
   */
  deleteWebhook(id: string, options: Asked = {}): Promise<void> {
    return this.none("DELETE", `/v1/webhooks/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Read a webhook.
   * Without its secret.
   */
  getWebhook(id: string, options: Asked = {}): Promise<Webhook> {
    return this.json("GET", `/v1/webhooks/${encodeURIComponent(id)}`, { options });
  }

  /**
   * Change a webhook.
   * Fields that are not sent stay. Disabling it drops pending deliveries; enabling it resets its failures; it gets the
   * events from then on.
   */
  updateWebhook(id: string, body: ChangeInputBody, options: Asked = {}): Promise<Webhook> {
    return this.json("PATCH", `/v1/webhooks/${encodeURIComponent(id)}`, { body, options });
  }

  /**
   * List a webhook's deliveries.
   * The newest first, for 30 days.
   */
  listWebhookDeliveries(id: string, query: {
    /** next_cursor of the page before; without it the list begins at its first entry. */
    cursor?: string;
    /** How many at most. */
    limit?: number;
  } = {}, options: Asked = {}): Page<ListDelivery, Delivery> {
    return this.pages("GET", `/v1/webhooks/${encodeURIComponent(id)}/deliveries`, { query, options });
  }

  /**
   * Take the next event of a webhook that listens.
   * For programs that have no address on the public Internet: they are answered the request that would be sent, signed
   * now, and send it where they like. The next event comes when they have said how it went, or 30 seconds later.
   * Without an event the answer comes after `wait` seconds. What was taken and is not reported is taken again.
   */
  takeWebhookEvent(id: string, query: {
    /** How many seconds to wait for an event. */
    wait?: number;
  } = {}, options: Asked = {}): Promise<Taken> {
    return this.json("POST", `/v1/webhooks/${encodeURIComponent(id)}/deliveries/take`, { query, options });
  }

  /**
   * Report how it went with an event that was taken.
   * It is delivered with a status from 200 to 299, else given up, and is not tried again unless somebody asks for it.
   * A second report changes nothing.
   */
  reportWebhookAttempt(id: string, delivery: string, body: TakenAttempt, options: Asked = {}): Promise<Delivery> {
    return this.json("POST", `/v1/webhooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(delivery)}/attempts`, { body, options });
  }

  /**
   * Deliver an event again.
   * Once, now, whether it arrived before or not; under the same `webhook-id`.
   */
  retryWebhookDelivery(id: string, delivery: string, options: Asked = {}): Promise<Delivery> {
    return this.json("POST", `/v1/webhooks/${encodeURIComponent(id)}/deliveries/${encodeURIComponent(delivery)}/retry`, { options });
  }

  /**
   * Give a webhook a new secret.
   * For 24 hours both secrets sign; of several rotations the last two secrets do.
   */
  rotateWebhookSecret(id: string, options: Asked = {}): Promise<SecretWebhook> {
    return this.json("POST", `/v1/webhooks/${encodeURIComponent(id)}/rotate`, { options });
  }

  /**
   * Send a test event.
   * An event `webhook.test`, whatever the webhook asks for. The result is among the deliveries.
   */
  testWebhook(id: string, options: Asked = {}): Promise<Delivery> {
    return this.json("POST", `/v1/webhooks/${encodeURIComponent(id)}/test`, { options });
  }
}
