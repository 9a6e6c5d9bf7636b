# Code generated from the service's OpenAPI document. DO NOT EDIT.
"""What the service's HTTP API takes and gives, as dictionaries."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

# A file of a form: its bytes, or its name and its bytes.
File: TypeAlias = bytes | tuple[str, bytes]


class APIKey(TypedDict):
    # When it was made.
    created_at: str
    # Identifier of the user, or of the account's key, that made it; null: it was made on the
    # server, or before this was noted.
    created_by: str | None
    # The user's address; null: it was no user, or they are gone.
    created_by_email: str | None
    # Names the key in requests; it is no secret.
    id: str
    # The key's last four characters.
    last4: str
    # To the minute; null: never.
    last_used_at: str | None
    # Whether it may listen in on calls.
    listen: bool
    # Whether it may change what is paid: automatic recharge, limits of spending.
    money: bool
    # What it is for.
    name: str
    # Null while it is good.
    revoked_at: str | None
    # What it may do: a member's key all but members, an owner's all. Changes of what is paid need
    # the mark money as well.
    role: Literal["member", "owner"]
    # Whether it may speak in calls, too.
    speak: bool


class Account(TypedDict):
    # In US dollars, sessions in progress counted.
    balance: float
    # Sessions at once, where an operator has set that; null: as the rate card says.
    concurrency: int | None
    # How long the contents of calls are kept: transcripts, summaries, and recordings at the
    # longest; null: until somebody deletes it.
    conversation_days: int | None
    # When it was made.
    created_at: str
    # Where warnings are mailed; empty: nowhere.
    email: str
    # Null before the first top-up.
    first_topup_at: str | None
    # Names the account in requests.
    id: str
    # Sessions in progress.
    live: int
    # For people.
    name: str
    # Payments that are disputed: while there is one, nothing starts.
    open_disputes: int
    # How long recordings of calls are kept.
    recording_days: int
    # What the rate card says.
    standard_concurrency: int
    # By an operator: nothing starts.
    suspended: bool


class AccountChangeBody(TypedDict):
    # Sessions at once; 0: as the rate card says.
    concurrency: NotRequired[int]
    # How long transcripts of calls are kept, recordings included; it counts for what is there, too.
    # 0: until somebody deletes it.
    conversation_days: NotRequired[int]
    # US dollars a day (UTC); null: no limit.
    daily_limit: NotRequired[float | None]
    # Where warnings are mailed; empty: nowhere.
    email: NotRequired[str]
    # How long recordings of calls are kept; it counts for those that are there, too.
    recording_days: NotRequired[int]
    # Whether nothing may start, and what is in progress ends.
    suspended: NotRequired[bool]


class AccountDetail(TypedDict):
    # In US dollars, sessions in progress counted.
    balance: float
    # Sessions at once, where an operator has set that; null: as the rate card says.
    concurrency: int | None
    # How long the contents of calls are kept: transcripts, summaries, and recordings at the
    # longest; null: until somebody deletes it.
    conversation_days: int | None
    # When it was made.
    created_at: str
    # Where warnings are mailed; empty: nowhere.
    email: str
    # Null before the first top-up.
    first_topup_at: str | None
    # Names the account in requests.
    id: str
    # Sessions in progress.
    live: int
    # Who belongs to it, owners first; empty: it is used by its keys alone.
    members: list[Member]
    # For people.
    name: str
    # Payments that are disputed: while there is one, nothing starts.
    open_disputes: int
    # How long recordings of calls are kept.
    recording_days: int
    # What the rate card says.
    standard_concurrency: int
    # By an operator: nothing starts.
    suspended: bool


class AccountEvent(TypedDict):
    # When it stopped being so, which of a number that is lost is known beforehand; null while it
    # is.
    cleared_at: str | None
    # When it was noticed.
    created_at: str
    # The figures; which are there depends on the kind.
    data: EventFigures
    # Names the event; younger ones sort later.
    id: str
    # balance.low, number.past_due, number.released, recharge.failed, dispute.opened,
    # webhook.disabled, spending.limit or engine_key.refused; there may be more kinds.
    kind: str
    # The same for people.
    message: str


class AccountSecret(TypedDict):
    # When it was made.
    created_at: str
    # Where it may be sent; empty: wherever a function sends it.
    hosts: list[str]
    # How functions refer to it: {{secret.NAME}}.
    name: str
    # When its value was set last.
    updated_at: str


class AddKnowledgeDocumentBody2(TypedDict):
    # PDF, DOCX, HTML, Markdown or plain text, 20 MB at most. Its content decides what it is, and
    # its name between formats of text.
    file: File
    # What the document is called; without it as its file is.
    title: NotRequired[str]


class AddSoundBody(TypedDict):
    # The recording.
    audio: File
    # What the sound is called: 1 to 100 characters, in one line.
    name: NotRequired[str]


class Agent(TypedDict):
    # Send it as agent_id.
    id: str
    # The language it speaks.
    language: str
    # For people.
    name: str
    # The voice it speaks with.
    voice: str


class AgentChange(TypedDict):
    # What it says first; empty: it waits for the caller.
    first_message: NotRequired[str]
    # What it speaks and hears: en es ca gl eu pt fr it de, or auto, which is the caller's; at first
    # en.
    language: NotRequired[str]
    # Values that take the place of those of the same names; null takes a name away, and names that
    # are absent stay.
    metadata: NotRequired[dict[str, str | None]]
    # For people, 200 bytes at most.
    name: NotRequired[str]
    # Who the agent is and what it knows, 100,000 bytes at most.
    prompt: NotRequired[str]
    settings: NotRequired[AgentSettings]
    tools: NotRequired[AgentTools]
    # F1 to F5 or M1 to M5; at first F1.
    voice: NotRequired[str]


class AgentCheck(TypedDict):
    # The fields of the agent that the document would change; null without agent_id, and when it is
    # not valid.
    changes: list[Change] | None
    # All that is wrong; empty when it is valid.
    mistakes: list[Mistake]
    # Whether it would be taken.
    valid: bool


class AgentDefinition(TypedDict):
    # When it was made.
    created_at: str
    # What it says first; empty: it waits for the caller.
    first_message: str
    # Names the agent in requests and conversations.
    id: str
    # What it speaks and hears; with auto its caller's, after it began in the one that follows.
    language: Literal["en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de", "auto-en", "auto-es", "auto-ca", "auto-gl", "auto-eu", "auto-pt", "auto-fr", "auto-it", "auto-de"]
    metadata: NotRequired[Metadata]
    # For people.
    name: str
    # Who the agent is and what it knows.
    prompt: str
    settings: AgentSettings
    tools: AgentTools
    # When it was changed last; its metadata does not count.
    updated_at: str
    # Grows with every change; it is the ETag.
    version: int
    # One of the ten.
    voice: Literal["F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3", "M4", "M5"]


AgentDiff = TypedDict(
    "AgentDiff",
    {
        # The fields that differ; empty when none does.
        "changes": "list[Change]",
        # The version compared with; 0: a new agent.
        "from": "int",
        # The version.
        "to": "int",
    },
)


class AgentFigures(TypedDict):
    # The agent, which may have been deleted since; null: of no agent of the account.
    agent_id: str | None
    # That as a share of all, with four digits; null: there are no calls.
    answer_rate: float | None
    # How many of them were answered; on a WebSocket, had a first prompt.
    answered: int
    # How many have ended.
    calls: int
    # What they have cost, with what was charged for them after their end.
    cost: float
    # Seconds since their answers, all together.
    duration: int


class AgentSettings(TypedDict):
    """How the agent converses. What is not there has its default."""

    # What the agent's language model makes of each answered call when it is over, charged as
    # summary tokens. A call's analysis has it, and webhooks get call.analyzed.
    analysis: NotRequired[AgentSettingsAnalysis]
    # How long the caller speaks over the agent until it stops; 600.
    barge_in_ms: NotRequired[int]
    # Telephone calls offer collect_digits, which has the caller type a number; true.
    collect_digits: NotRequired[bool]
    # The engines that it uses, of those that the server offers (GET /models), each by name or as an
    # object with a model and options of its own: one, or several that are tried in order, the next
    # within the turn in which one fails. Every server has those of vad and denoise, of which one is
    # named. What is absent is the server's default. A call's engines say which of the others
    # served.
    engines: NotRequired[AgentSettingsEngines]
    # The same for the first message; as interruptible, and never with a recording_notice.
    first_message_interruptible: NotRequired[Literal["always", "never", "after_first_sentence"]]
    # What it says when a limit ends the conversation. It may have variables.
    goodbye: NotRequired[str]
    # The agents of the account that hand_over may pass the caller to, in the same call. From then
    # on the other agent conducts it, with its own prompt, voice, functions, engines and
    # turn-taking; the recording and the longest duration stay those of the first. Agents whose
    # engine hears and speaks by itself neither hand over nor take over.
    hand_over_to: NotRequired[list[AgentSettingsHandOverToItem]]
    # What it says then; without it a sentence in its language. It may have variables.
    hold_announcement: NotRequired[str]
    # How often the agent tells callers on hold that they are still waiting; the sound stops for it.
    # 20 to 300 seconds, or 0 for never; 0.
    hold_announcement_seconds: NotRequired[int]
    # What callers hear while this server calls somebody for them: ringing, the tone of the country
    # that is called; music; or a sound of the account, by its identifier, and the tone again when
    # that is deleted. A carrier that transfers by itself plays what it likes; ringing.
    hold_sound: NotRequired[str]
    # How often it does before it says goodbye; 2.
    idle_reprompts: NotRequired[int]
    # Silence after which the agent speaks up; 10. 0: never.
    idle_seconds: NotRequired[int]
    # Whether the caller may interrupt; always. What is said while they may not is answered
    # afterwards.
    interruptible: NotRequired[Literal["always", "never", "after_first_sentence"]]
    # A key that the caller presses interrupts, where speech would; true.
    key_interrupts: NotRequired[bool]
    # What the agent knows besides its prompt, to whose end it is added as it is.
    knowledge: NotRequired[list[AgentSettingsKnowledgeItem]]
    # The collections of documents that the agent answers from, by their identifiers: kb_…, of the
    # same account.
    knowledge_bases: NotRequired[list[str]]
    # When documents are searched: function, when the model calls search_knowledge; or turn, each
    # time the caller has spoken, for passages that fit their words. A search of a turn that takes
    # more than 150 ms is left out. An engine that hears and speaks by itself always has the
    # function.
    knowledge_mode: NotRequired[Literal["function", "turn"]]
    # Everybody in the call hears a short, soft tone of 1400 Hz when a supervisor begins to listen
    # in, and every 15 seconds after that. Some laws require one; false.
    listening_tone: NotRequired[bool]
    # What is said after a machine's tone; needed with on_machine message. It may have variables.
    machine_message: NotRequired[str]
    # The longest conversation; 7200.
    max_duration_seconds: NotRequired[int]
    # The longest wait for the end of the caller's turn; 2400.
    max_endpoint_ms: NotRequired[int]
    # The shortest silence that ends the caller's turn; 950 by the words, and 450 when an engine
    # judges the pause.
    min_endpoint_ms: NotRequired[int]
    # What a machine gets that answers a call, unless the call says otherwise: the agent, nothing,
    # or machine_message; continue.
    on_machine: NotRequired[Literal["continue", "hangup", "message"]]
    # Telephone calls offer opt_out, which puts the other party on the do-not-call list; true.
    opt_out: NotRequired[bool]
    # What callers are expected to say, 2000 texts at most.
    phrases: NotRequired[list[str]]
    # How words are pronounced: whole words, in any case, the longest that fits. Transcripts and
    # captions keep what is written.
    pronunciation: NotRequired[list[AgentSettingsPronunciationItem]]
    # The variables that visitors may set: pages that hold a session ticket send values of these
    # alone, and never over those of the ticket.
    public_variables: NotRequired[list[str]]
    # Record the agent's calls, both sides; false. Inform callers where the law says so.
    record: NotRequired[bool]
    # Go on recording after the caller has been connected to somebody by a call of this server: what
    # the two say. They must know, too; false.
    record_transfers: NotRequired[bool]
    # What is said before the first message, word for word. Neither can be interrupted then.
    recording_notice: NotRequired[str]
    # How long an incoming call rings; 1000.
    ring_ms: NotRequired[int]
    # Telephone calls offer send_dtmf, which presses keys; true.
    send_dtmf: NotRequired[bool]
    # Telephone calls offer send_sms, which sends the other party a text message of at most 1000
    # characters, three in a call; false. You pay for the messages.
    send_sms: NotRequired[bool]
    # The number that text messages come from, one that the account has bought here; without it the
    # account's number of the call.
    sms_from: NotRequired[str]
    # Begin replies in pauses in which the caller has probably finished, which makes answers
    # quicker. A reply that is begun in vain, at most twice in a turn, is charged as tokens on a
    # line of its own; none is begun while the balance is below zero. As
    # llm.speculative_replies_default of the rate card.
    speculative_llm: NotRequired[bool]
    # Have the first sentence of such a reply spoken in advance by a voice of another server, too;
    # false. Voices of this server always do.
    speculative_voice: NotRequired[bool]
    # How fast the agent speaks; 1 is the voice's own pace.
    speed: NotRequired[float]
    # The parts of the conversation, one after the other: the agent begins at the first, has its
    # instructions beside the prompt, and goes on with the function next_step when the model finds
    # that a condition holds. An engine that hears and speaks by itself has the instructions of all.
    steps: NotRequired[list[AgentSettingsStepsItem]]
    # Send the audio of the agent's calls to a WebSocket while they go on, in the messages of
    # Twilio's Media Streams. Inform callers where the law says so.
    stream: NotRequired[AgentSettingsStream]
    # The time zone of {{now}}, such as Europe/Madrid; UTC.
    timezone: NotRequired[str]
    # transfer_call may hand calls over to any number that may be called, not only to those of
    # transfer_to; false.
    transfer_any: NotRequired[bool]
    # Whom transfer_call may hand telephone calls over to. The carrier does it; where it refuses, or
    # with warm or stay, this server calls them on another line and connects the two.
    transfer_to: NotRequired[list[AgentSettingsTransferToItem]]
    # What ends the caller's turn: words, those that were said and the silence after them; or
    # engine, a recogniser that finds the ends of turns, and otherwise silence for max_endpoint_ms.
    # As the recogniser does: engine when it finds them, else words.
    turns: NotRequired[Literal["words", "engine"]]
    # The variables that the prompt, the first message, the goodbye and the message to machines name
    # as {{name}}, with their values when nobody gives any. A name is a letter and at most 39
    # letters, digits and _. The server sets {{call.from}}, {{call.to}}, {{caller.name}},
    # {{caller.verified}} (yes or no), {{caller.attestation}} (A, B or C), {{call.diverted_by}},
    # {{call.first_called}}, {{call.header.x-name}} and {{now}}.
    variables: NotRequired[dict[str, str]]


class AgentSettingsAnalysis(TypedDict):
    """What the agent's language model makes of each answered call when it is over, charged as summary

    tokens. A call's analysis has it, and webhooks get call.analyzed.
    """

    # A JSON Schema, 16384 bytes at most, of the facts that are taken out of the transcript: type
    # object with properties, and on every level type, title, description, enum (texts), minimum,
    # maximum, minLength, maxLength, maxItems, items, properties, required and additionalProperties.
    # What does not fit it is asked for once more, and then the analysis has failed.
    extract: NotRequired[dict[str, Any]]
    # Write a summary of the call, in a few sentences; false.
    summary: NotRequired[bool]
    # What the summary is to look at besides; summary is needed, too.
    summary_prompt: NotRequired[str]


class AgentSettingsEngines(TypedDict):
    """The engines that it uses, of those that the server offers (GET /models), each by name or as an

    object with a model and options of its own: one, or several that are tried in order, the next
    within the turn in which one fails. Every server has those of vad and denoise, of which one is
    named. What is absent is the server's default. A call's engines say which of the others served.
    """

    # Recognition.
    asr: NotRequired[str | AgentSettingsEnginesAsr2 | list[str | AgentSettingsEnginesAsr3Item2]]
    # What takes the noise off the caller's audio: spectral; gtcrn, a neural network that takes more
    # of it, costs more of the server and is 18 ms later; or off, nothing.
    denoise: NotRequired[Literal["spectral", "gtcrn", "off"] | list[Literal["spectral", "gtcrn", "off"]]]
    # The language model.
    llm: NotRequired[str | AgentSettingsEnginesLlm2 | list[str | AgentSettingsEnginesLlm3Item2]]
    # One engine that hears, answers and speaks by itself, by its name, in place of the three above
    # in calls; llm then serves what comes after them. Its audio is charged by the token.
    realtime: NotRequired[str | list[str]]
    # The voice.
    tts: NotRequired[str | AgentSettingsEnginesTts2 | list[str | AgentSettingsEnginesTts3Item2]]
    # What notices that the caller speaks: spectral, which is the sooner, or silero, a neural
    # network that tells their voice from others behind them.
    vad: NotRequired[Literal["spectral", "silero"] | list[Literal["spectral", "silero"]]]


class AgentSettingsEnginesAsr2(TypedDict):
    """An engine with a model or options of its own."""

    # Its name.
    engine: str
    # The model, as its vendor calls it; without it the server's.
    model: NotRequired[str]
    # Settings of the engine, which count before the server's. Unknown ones are refused.
    options: NotRequired[AgentSettingsEnginesAsr2Options1 | AgentSettingsEnginesAsr2Options2 | AgentSettingsEnginesAsr2Options3 | AgentSettingsEnginesAsr2Options4 | AgentSettingsEnginesAsr2Options5 | dict[str, Any]]


class AgentSettingsEnginesAsr2Options1(TypedDict):
    # Of Flux: the probability from which a turn has likely ended, no more than eot_threshold;
    # without it nothing is said of that.
    eager_eot_threshold: NotRequired[float]
    # Of Flux: the probability from which a turn has ended; 0.7.
    eot_threshold: NotRequired[float]
    # Of Flux: the longest pause in a turn.
    eot_timeout_ms: NotRequired[int]
    # Keeps what is said out of Deepgram's training. An agent cannot change what the operator has
    # set.
    mip_opt_out: NotRequired[bool]
    # Names the requests in Deepgram's statistics.
    tag: NotRequired[str]


class AgentSettingsEnginesAsr2Options2(TypedDict):
    # Of the Universal models: the confidence from which a turn ends with the shorter silence.
    end_of_turn_confidence_threshold: NotRequired[float]
    # The silence in ms after which a turn has ended.
    max_turn_silence: NotRequired[int]
    # The silence in ms after which a turn may end.
    min_turn_silence: NotRequired[int]


class AgentSettingsEnginesAsr2Options3(TypedDict):
    # Has Soniox find the ends of turns.
    enable_endpoint_detection: NotRequired[bool]
    # How long it may take for that after the caller has ended.
    max_endpoint_delay_ms: NotRequired[int]


class AgentSettingsEnginesAsr2Options4(TypedDict):
    # Below which a turn is likely over; 0.4. Less than turn_start_threshold.
    turn_eager_end_threshold: NotRequired[float]
    # Below which a turn is over; 0.2. Less than turn_eager_end_threshold.
    turn_end_threshold: NotRequired[float]
    # The longest pause in a turn; 960.
    turn_end_timeout_ms: NotRequired[int]
    # Of ink-2, as all of these: the likelihood of speech above which a turn begins; 0.8.
    turn_start_threshold: NotRequired[float]


class AgentSettingsEnginesAsr2Options5(TypedDict):
    # When false ElevenLabs keeps nothing. An agent cannot change what the operator has set.
    enable_logging: NotRequired[bool]
    # Leaves out filler words and false starts.
    no_verbatim: NotRequired[bool]


class AgentSettingsEnginesAsr3Item2(TypedDict):
    """An engine with a model or options of its own."""

    # Its name.
    engine: str
    # The model, as its vendor calls it; without it the server's.
    model: NotRequired[str]
    # Settings of the engine, which count before the server's. Unknown ones are refused.
    options: NotRequired[AgentSettingsEnginesAsr3Item2Options1 | AgentSettingsEnginesAsr3Item2Options2 | AgentSettingsEnginesAsr3Item2Options3 | AgentSettingsEnginesAsr3Item2Options4 | AgentSettingsEnginesAsr3Item2Options5 | dict[str, Any]]


class AgentSettingsEnginesAsr3Item2Options1(TypedDict):
    # Of Flux: the probability from which a turn has likely ended, no more than eot_threshold;
    # without it nothing is said of that.
    eager_eot_threshold: NotRequired[float]
    # Of Flux: the probability from which a turn has ended; 0.7.
    eot_threshold: NotRequired[float]
    # Of Flux: the longest pause in a turn.
    eot_timeout_ms: NotRequired[int]
    # Keeps what is said out of Deepgram's training. An agent cannot change what the operator has
    # set.
    mip_opt_out: NotRequired[bool]
    # Names the requests in Deepgram's statistics.
    tag: NotRequired[str]


class AgentSettingsEnginesAsr3Item2Options2(TypedDict):
    # Of the Universal models: the confidence from which a turn ends with the shorter silence.
    end_of_turn_confidence_threshold: NotRequired[float]
    # The silence in ms after which a turn has ended.
    max_turn_silence: NotRequired[int]
    # The silence in ms after which a turn may end.
    min_turn_silence: NotRequired[int]


class AgentSettingsEnginesAsr3Item2Options3(TypedDict):
    # Has Soniox find the ends of turns.
    enable_endpoint_detection: NotRequired[bool]
    # How long it may take for that after the caller has ended.
    max_endpoint_delay_ms: NotRequired[int]


class AgentSettingsEnginesAsr3Item2Options4(TypedDict):
    # Below which a turn is likely over; 0.4. Less than turn_start_threshold.
    turn_eager_end_threshold: NotRequired[float]
    # Below which a turn is over; 0.2. Less than turn_eager_end_threshold.
    turn_end_threshold: NotRequired[float]
    # The longest pause in a turn; 960.
    turn_end_timeout_ms: NotRequired[int]
    # Of ink-2, as all of these: the likelihood of speech above which a turn begins; 0.8.
    turn_start_threshold: NotRequired[float]


class AgentSettingsEnginesAsr3Item2Options5(TypedDict):
    # When false ElevenLabs keeps nothing. An agent cannot change what the operator has set.
    enable_logging: NotRequired[bool]
    # Leaves out filler words and false starts.
    no_verbatim: NotRequired[bool]


class AgentSettingsEnginesLlm2(TypedDict):
    """An engine with a model or options of its own."""

    # Its name.
    engine: str
    # The model, as its vendor calls it; without it the server's.
    model: NotRequired[str]
    # Settings of the engine, which count before the server's. Unknown ones are refused.
    options: NotRequired[AgentSettingsEnginesLlm2Options1 | AgentSettingsEnginesLlm2Options2 | AgentSettingsEnginesLlm2Options3]


class AgentSettingsEnginesLlm2Options1(TypedDict):
    # How long a prompt is cached.
    cache_ttl: NotRequired[Literal["5m", "1h"]]
    # Of a reply at most.
    max_tokens: NotRequired[int]
    # How freely words are chosen.
    temperature: NotRequired[float]
    # The likeliest words are chosen among, up to this probability together.
    top_p: NotRequired[float]


class AgentSettingsEnginesLlm2Options2(TypedDict):
    # Of a reply at most.
    max_tokens: NotRequired[int]
    # How freely words are chosen.
    temperature: NotRequired[float]
    # The same of Gemini 2.5, in tokens; -1: as it sees fit. Not with thinking_level.
    thinking_budget: NotRequired[int]
    # How much Gemini 3 thinks before it answers; without it as little as the model allows.
    thinking_level: NotRequired[Literal["minimal", "low", "medium", "high"]]
    # The likeliest words are chosen among, up to this probability together.
    top_p: NotRequired[float]


class AgentSettingsEnginesLlm2Options3(TypedDict):
    # chat, which all servers of the dialect have, or OpenAI's own.
    api: NotRequired[Literal["chat", "responses"]]
    # Of a reply at most.
    max_tokens: NotRequired[int]
    # How much a model that reasons does so before it answers; over responses low.
    reasoning_effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh"]]
    # How freely words are chosen.
    temperature: NotRequired[float]
    # The likeliest words are chosen among, up to this probability together.
    top_p: NotRequired[float]


class AgentSettingsEnginesLlm3Item2(TypedDict):
    """An engine with a model or options of its own."""

    # Its name.
    engine: str
    # The model, as its vendor calls it; without it the server's.
    model: NotRequired[str]
    # Settings of the engine, which count before the server's. Unknown ones are refused.
    options: NotRequired[AgentSettingsEnginesLlm3Item2Options1 | AgentSettingsEnginesLlm3Item2Options2 | AgentSettingsEnginesLlm3Item2Options3]


class AgentSettingsEnginesLlm3Item2Options1(TypedDict):
    # How long a prompt is cached.
    cache_ttl: NotRequired[Literal["5m", "1h"]]
    # Of a reply at most.
    max_tokens: NotRequired[int]
    # How freely words are chosen.
    temperature: NotRequired[float]
    # The likeliest words are chosen among, up to this probability together.
    top_p: NotRequired[float]


class AgentSettingsEnginesLlm3Item2Options2(TypedDict):
    # Of a reply at most.
    max_tokens: NotRequired[int]
    # How freely words are chosen.
    temperature: NotRequired[float]
    # The same of Gemini 2.5, in tokens; -1: as it sees fit. Not with thinking_level.
    thinking_budget: NotRequired[int]
    # How much Gemini 3 thinks before it answers; without it as little as the model allows.
    thinking_level: NotRequired[Literal["minimal", "low", "medium", "high"]]
    # The likeliest words are chosen among, up to this probability together.
    top_p: NotRequired[float]


class AgentSettingsEnginesLlm3Item2Options3(TypedDict):
    # chat, which all servers of the dialect have, or OpenAI's own.
    api: NotRequired[Literal["chat", "responses"]]
    # Of a reply at most.
    max_tokens: NotRequired[int]
    # How much a model that reasons does so before it answers; over responses low.
    reasoning_effort: NotRequired[Literal["none", "minimal", "low", "medium", "high", "xhigh"]]
    # How freely words are chosen.
    temperature: NotRequired[float]
    # The likeliest words are chosen among, up to this probability together.
    top_p: NotRequired[float]


class AgentSettingsEnginesTts2(TypedDict):
    """An engine with a model or options of its own."""

    # Its name.
    engine: str
    # The model, as its vendor calls it; without it the server's.
    model: NotRequired[str]
    # Settings of the engine, which count before the server's. Unknown ones are refused.
    options: NotRequired[AgentSettingsEnginesTts2Options1 | AgentSettingsEnginesTts2Options2 | AgentSettingsEnginesTts2Options3 | dict[str, Any]]


class AgentSettingsEnginesTts2Options1(TypedDict):
    # As Cartesia names it.
    emotion: NotRequired[str]
    # 1 is the voice's own.
    volume: NotRequired[float]


class AgentSettingsEnginesTts2Options2(TypedDict):
    # Of the Flux voices.
    expressivity: NotRequired[int]
    # Keeps what is said out of Deepgram's training. An agent cannot change what the operator has
    # set.
    mip_opt_out: NotRequired[bool]


class AgentSettingsEnginesTts2Options3(TypedDict):
    # How near it keeps to the speaker that it was made from.
    similarity_boost: NotRequired[float]
    # How evenly the voice speaks.
    stability: NotRequired[float]
    # How much it exaggerates that speaker's style.
    style: NotRequired[float]
    # Brings it nearer to that speaker, and takes longer.
    use_speaker_boost: NotRequired[bool]


class AgentSettingsEnginesTts3Item2(TypedDict):
    """An engine with a model or options of its own."""

    # Its name.
    engine: str
    # The model, as its vendor calls it; without it the server's.
    model: NotRequired[str]
    # Settings of the engine, which count before the server's. Unknown ones are refused.
    options: NotRequired[AgentSettingsEnginesTts3Item2Options1 | AgentSettingsEnginesTts3Item2Options2 | AgentSettingsEnginesTts3Item2Options3 | dict[str, Any]]


class AgentSettingsEnginesTts3Item2Options1(TypedDict):
    # As Cartesia names it.
    emotion: NotRequired[str]
    # 1 is the voice's own.
    volume: NotRequired[float]


class AgentSettingsEnginesTts3Item2Options2(TypedDict):
    # Of the Flux voices.
    expressivity: NotRequired[int]
    # Keeps what is said out of Deepgram's training. An agent cannot change what the operator has
    # set.
    mip_opt_out: NotRequired[bool]


class AgentSettingsEnginesTts3Item2Options3(TypedDict):
    # How near it keeps to the speaker that it was made from.
    similarity_boost: NotRequired[float]
    # How evenly the voice speaks.
    stability: NotRequired[float]
    # How much it exaggerates that speaker's style.
    style: NotRequired[float]
    # Brings it nearer to that speaker, and takes longer.
    use_speaker_boost: NotRequired[bool]


class AgentSettingsHandOverToItem(TypedDict):
    # Its identifier: ag_…, of the same account.
    agent: str
    # When to hand over to it.
    description: NotRequired[str]
    # What it is given of the conversation: all that was said, or a summary that the agent writes;
    # all.
    history: NotRequired[Literal["all", "summary"]]
    # What the agent calls it. No two have one name.
    name: str


class AgentSettingsKnowledgeItem(TypedDict):
    # What there is to know.
    text: str
    # What it is about.
    title: str


class AgentSettingsPronunciationItem(TypedDict):
    # As it would be written if it were written as it sounds. 200 bytes at most.
    say: str
    # A word, or several, as it is written. 200 bytes at most.
    word: str


class AgentSettingsStepsItem(TypedDict):
    # What it is called. No two have one name.
    name: str
    # The steps that follow, and when; none: it is the last one.
    next: NotRequired[list[AgentSettingsStepsItemNextItem]]
    # What the agent does at this step. It may have variables.
    prompt: str


class AgentSettingsStepsItemNextItem(TypedDict):
    # The step that follows.
    to: str
    # When to go on to it. It may have variables.
    when: str


class AgentSettingsStream(TypedDict):
    """Send the audio of the agent's calls to a WebSocket while they go on, in the messages of Twilio's

    Media Streams. Inform callers where the law says so.
    """

    # `{{secret.NAME}}` stands for a secret of the account.
    headers: NotRequired[dict[str, str]]
    # What is sent: what the person on the line says, what they hear, or both; both.
    tracks: NotRequired[Literal["inbound", "outbound", "both"]]
    # Where it is sent, a wss address on the public Internet; empty: nowhere.
    url: NotRequired[str]


class AgentSettingsTransferToItem(TypedDict):
    # When to transfer to them.
    description: NotRequired[str]
    # What the agent calls them. No two have one name.
    name: NotRequired[str]
    # A number in international format that may be called; or a SIP address, such as
    # sip:200@pbx.example.com or sip:sales@192.0.2.7:5070;transport=tcp, whose server is a target of
    # one of the account's trunks, and which is called there. Telephone numbers have no place in it.
    number: str
    # They are called on another line, and the agent says its summary to both, who hear each other
    # already. It leaves when they have spoken, 10 seconds after its last word at the latest. If
    # they hang up before that, the agent has the caller again. It takes precedence over warm;
    # false.
    stay: NotRequired[bool]
    # They are called on another line, and told the agent's summary before the caller is put
    # through; false.
    warm: NotRequired[bool]


class AgentToolsItem(TypedDict):
    # The customer database; without it, or without `provider`, the server's.
    crm: NotRequired[AgentToolsItemCrm]
    # Of `http`: when to call it.
    description: NotRequired[str]
    # How the function is described to the language model.
    function: NotRequired[AgentToolsItemFunction]
    # The request.
    http: NotRequired[AgentToolsItemHttp]
    # A server of the Model Context Protocol, over Streamable HTTP.
    mcp: NotRequired[AgentToolsItemMcp]
    # Of `http`: the function's name. Of `mcp`: what the names of its tools begin with.
    name: NotRequired[str]
    # Of `http` and `mcp`: `continue` or `cancel` when the caller interrupts; a GET is cancelled,
    # everything else goes on.
    on_interrupt: NotRequired[Literal["continue", "cancel"]]
    # Of `http`: JSON Schema of its arguments, which are held to it.
    parameters: NotRequired[dict[str, Any]]
    # Who runs it: the client; a service of yours; the tools of an MCP server; a web search; the
    # customer database.
    type: Literal["function", "http", "mcp", "web_search", "crm"]


class AgentToolsItemCrm(TypedDict):
    """The customer database; without it, or without `provider`, the server's."""

    # `{{secret.NAME}}`.
    api_key: NotRequired[str]
    # Note telephone calls there when they are over; true.
    log_calls: NotRequired[bool]
    # Offer `crm_lookup`; true.
    lookup: NotRequired[bool]
    # `rest` or `hubspot`.
    provider: NotRequired[str]
    # Its base address.
    url: NotRequired[str]


class AgentToolsItemFunction(TypedDict):
    """How the function is described to the language model."""

    # When to call it.
    description: NotRequired[str]
    # Unique in the list.
    name: str
    # JSON Schema of its arguments.
    parameters: NotRequired[dict[str, Any]]


class AgentToolsItemHttp(TypedDict):
    """The request."""

    # JSON in which texts that are just `{name}` stand for arguments; without it all arguments are
    # sent, except by GET and DELETE.
    body: NotRequired[Any]
    # `{{secret.NAME}}` stands for a secret of the account.
    headers: NotRequired[dict[str, str]]
    # A header with a value of its own for each function call; POST and PATCH are repeated only with
    # it.
    idempotency_header: NotRequired[str]
    # GET, POST, PUT, PATCH or DELETE.
    method: NotRequired[str]
    # Secrets and arguments may stand in it.
    query: NotRequired[dict[str, str]]
    # 0 to 2, when the service cannot be reached or is busy.
    retries: NotRequired[int]
    # 100 to 30,000; 8,000.
    timeout_ms: NotRequired[int]
    # An https address on the public Internet; `{name}` stands for an argument.
    url: NotRequired[str]


class AgentToolsItemMcp(TypedDict):
    """A server of the Model Context Protocol, over Streamable HTTP."""

    # The tools that are offered; without it all.
    allowed_tools: NotRequired[list[str]]
    # `{{secret.NAME}}` stands for a secret of the account.
    headers: NotRequired[dict[str, str]]
    # Of each call, 100 to 30,000; 8,000.
    timeout_ms: NotRequired[int]
    # Its https address.
    url: NotRequired[str]


class AgentsOutputBody(TypedDict):
    # Every agent of the account.
    agents: list[Agent]


class AnswerSide(TypedDict):
    # The model did not answer.
    failed: NotRequired[bool]
    # The functions that it calls, in their order.
    functions: list[ComparedFunction]
    # Its words.
    text: str


class Ask(TypedDict):
    # The name of the engine that speaks, of those of kind tts in GET /api/status/models; without it
    # those that the server uses speak. Only POST /tts/synthesize looks at it.
    engine: NotRequired[str]
    # The same as language, which wins.
    lang: NotRequired[str]
    # One of en es ca gl eu pt fr it de, a region behind it is ignored; there is no default.
    language: NotRequired[str]
    # Pace; 1 is the voice's own.
    speed: NotRequired[float]
    # Denoising steps, where the engine has them. The socket always uses 6 and ignores what is sent.
    steps: NotRequired[float]
    # What to say; its length counts in Unicode code points.
    text: str
    # Send mouth shapes, too. Only sockets can.
    visemes: NotRequired[bool]
    # F1 to F5 or M1 to M5; there is no default.
    voice: str


class AssignInputBody(TypedDict):
    # An agent of the account; empty or null: nobody answers.
    agent_id: NotRequired[str | None]
    # How many calls the account places from it in an hour, in batches and one by one; 0: as many as
    # it likes. Absent: as before.
    calls_per_hour: NotRequired[int]
    # A webhook of the account that is asked about each call while it rings, with call.incoming;
    # empty or null: none is. Absent: as before.
    webhook_id: NotRequired[str | None]


class Attempt(TypedDict):
    # The first kilobyte of its body.
    answer: NotRequired[str]
    # When it was made.
    at: str
    # Why there was no answer.
    error: NotRequired[str]
    # How long the answer took.
    latency_ms: int
    # Of the answer; 0: there was none.
    status: int


class AutoRecharge(TypedDict):
    # What is charged each time.
    amount: float
    # Whether there is a card to charge: the one that paid a top-up last is kept.
    card_saved: bool
    # What counts towards monthly_cap: charges that succeeded, and the one in progress.
    charged_this_month: float
    # Whether the card is charged when the balance falls below threshold.
    enabled: bool
    # The top-up that is being charged; null when there is none.
    in_progress: str | None
    # Why the last charge failed, or it was disabled; absent when it did not, or it was enabled
    # again since.
    last_failure: NotRequired[RechargeFailure]
    # The most of a calendar month, in UTC.
    monthly_cap: float
    # When the card may be charged again: ten minutes after a charge, longer after a failure; null:
    # at once. A top-up that is paid by hand ends the wait after a failure.
    retry_at: str | None
    # A balance below it is recharged.
    threshold: float


class Balance(TypedDict):
    # What sessions in progress have used and the ledger does not hold yet.
    accrued: float
    # What the account has, sessions in progress counted. Show it rounded down to the cent.
    balance: float
    # Of it, credit that expires. It is used first, and pays neither numbers nor outgoing calls.
    bonus: float
    # The parts of bonus, soonest expiry first.
    bonus_lots: list[BonusLot]
    # Sessions at once.
    concurrency: Concurrency
    # The currency of every amount.
    currency: Literal["USD"]
    # A payment is disputed: nothing starts.
    disputed: bool
    # Null before the first top-up: numbers and outgoing calls need one.
    first_topup_at: str | None
    # Set aside for minutes and work about to begin; still part of balance.
    held: float
    # What a session or a request needs to start.
    min_session_start: float
    # How far below zero sessions in progress may go before they end.
    overdraft: float
    # Of it, what was paid in; below zero in overdraft.
    paid: float
    # What the ledger's last entry says: balance and accrued together.
    posted: float
    # The operator has suspended the account: nothing starts.
    suspended: bool
    # The most urgent first; empty when all is well.
    warnings: list[Warning]


class Batch(TypedDict):
    # When people are called; absent: at any time.
    call_window: NotRequired[CallWindow]
    # Calls by status; together the total.
    counts: Counts
    # When it was queued.
    created_at: str
    # Names the batch in paths.
    id: str
    metadata: NotRequired[Metadata]
    # As it was given; may be empty.
    name: str
    # What a machine that answers gets.
    on_machine: Literal["continue", "hangup", "message"]
    # The retry rules, one for each outcome; absent: each number is called once.
    retries: NotRequired[list[Retry] | None]
    # done: every call has ended.
    state: Literal["running", "paused", "cancelled", "done"]
    # How many calls it has, those that call again included.
    total: int


class BatchCheck(TypedDict):
    # How many would be called.
    good: int
    # What it costs when all who would be called talk for a minute each; every started minute of a
    # line counts.
    per_minute: float
    # All rows, in their order.
    rows: list[RowCheck]
    # How many would not: as long as there is one, the batch is refused.
    wrong: int


class BatchDetail(TypedDict):
    # When people are called; absent: at any time.
    call_window: NotRequired[CallWindow]
    # Calls by status; together the total.
    counts: Counts
    # When it was queued.
    created_at: str
    # Names the batch in paths.
    id: str
    metadata: NotRequired[Metadata]
    # As it was given; may be empty.
    name: str
    # What a machine that answers gets.
    on_machine: Literal["continue", "hangup", "message"]
    # The retry rules, one for each outcome; absent: each number is called once.
    retries: NotRequired[list[Retry] | None]
    # Its calls, in the order in which they were given, behind them those that call again.
    rows: list[BatchRow]
    # done: every call has ended.
    state: Literal["running", "paused", "cancelled", "done"]
    # How many calls it has, those that call again included.
    total: int


BatchRow = TypedDict(
    "BatchRow",
    {
        # The agent that speaks.
        "agent_id": "str",
        # When it was answered; null: it was not.
        "answered_at": "str | None",
        # Who answered; null: nobody, or it is not known yet.
        "answered_by": "Literal[\"human\", \"machine\", \"screening\", \"unknown\", None]",
        # Which call of its callee it is, from 1.
        "attempt": "int",
        # Its call, for the monitor; null: it was not dialled.
        "call_id": "str | None",
        # What the call has cost so far, its summary included.
        "cost": "float",
        # Whole seconds since the answer; 0 before.
        "duration": "int",
        # The finer cause, if there is one.
        "end_detail": "str | None",
        # Why the call ended; null while it lasts, or when there was none.
        "end_reason": "Literal[\"completed\", \"user_hangup\", \"agent_hangup\", \"api_hangup\", \"no_answer\", \"busy\", \"rejected\", \"failed\", \"voicemail\", \"balance_exhausted\", \"max_duration\", \"unknown\", None]",
        # When the call ended; null while it lasts, or when there was none.
        "ended_at": "str | None",
        # Only when it failed: why.
        "error": "NotRequired[RowError]",
        # The number that the callee sees.
        "from": "str",
        "headers": "NotRequired[CallHeaders]",
        # Names the row.
        "id": "str",
        "metadata": "NotRequired[Metadata]",
        # The row after whose call this one calls again; absent: it is the first.
        "retry_of": "NotRequired[str]",
        # When it is to be called; null: at once.
        "scheduled_at": "str | None",
        # When it was dialled.
        "started_at": "str | None",
        # Status of the row. sent: the call was placed, whether or not it was answered.
        "status": "Literal[\"pending\", \"dialing\", \"sent\", \"failed\"]",
        # The outcome of the call in a few sentences; null: there is no summary, or not yet.
        "summary": "str | None",
        # The number called, in international format.
        "to": "str",
        # Values of the agent's variables, as they were given for this call.
        "variables": "NotRequired[dict[str, str]]",
    },
)


class BatchesOutputBody(TypedDict):
    # All of them, newest first.
    batches: list[Batch]


class BonusLot(TypedDict):
    # When the rest goes.
    expires_at: str
    # How much it was.
    granted: float
    # What is left of it.
    left: float


class BuyInputBody(TypedDict):
    # An agent of the account; empty or null: nobody answers.
    agent_id: NotRequired[str | None]
    # Exactly as the search has it.
    phone_number: str


class CallAnalysis(TypedDict):
    # What was taken out of the transcript, as the agent's schema wants it; null likewise.
    data: dict[str, Any] | None
    # The same in a sentence, if there is more to say.
    detail: str | None
    # When it was finished; null: it waits.
    done_at: str | None
    # Why it failed or was skipped: no language model answered; its answer did not fit the schema,
    # twice; the balance was used up; nothing was said; the agent's settings cannot be read; or the
    # call was deleted.
    reason: Literal["engine", "answer", "balance", "silence", "schema", "deleted", None]
    # Status of the analysis. failed: given up, though the summary may be there; skipped: not tried.
    state: Literal["waiting", "done", "failed", "skipped"]
    # The outcome of the call in a few sentences; null: not asked for, or not there.
    summary: str | None


CallAnalyzed = TypedDict(
    "CallAnalyzed",
    {
        # The agent that spoke; null when the client brought its own prompt. It may have been
        # deleted since.
        "agent_id": "str | None",
        # The agent's version that it ran with; null when it had none.
        "agent_version": "int | None",
        # What the agent's language model made of it.
        "analysis": "CallAnalysis",
        # When it was answered and began to cost; null: never.
        "answered_at": "str | None",
        # Who answered a call that an agent placed: a person, an answering machine, an assistant
        # that screens calls, or unknown; null: nobody answered, or the call came in.
        "answered_by": "Literal[\"human\", \"machine\", \"screening\", \"unknown\", None]",
        # How well the carrier where a call that came in began knows the caller (ATIS-1000074): A,
        # it knows its customer and that the number is theirs; B, it knows its customer; C, it knows
        # neither. null: nobody says, or nobody vouches for the trunk.
        "attestation": "Literal[\"A\", \"B\", \"C\", None]",
        # What it has cost so far.
        "cost": "float",
        # When it began to ring, to be dialled or to be set up.
        "created_at": "str",
        # When its transcript and recording were deleted, on request or because the account had kept
        # them long enough; null: they were not.
        "deleted_at": "str | None",
        # It came with the demonstration: it was recorded on another server, and nobody called.
        # Absent: somebody did.
        "demonstration": "NotRequired[bool]",
        # Over a WebSocket, to one of the account's numbers, or placed by an agent.
        "direction": "Literal[\"web\", \"inbound\", \"outbound\"]",
        # Whole seconds since the answer; 0 before.
        "duration": "int",
        # The finer cause, if there is one.
        "end_detail": "str | None",
        # Why it ended; null while it lasts.
        "end_reason": "Literal[\"completed\", \"user_hangup\", \"agent_hangup\", \"api_hangup\", \"no_answer\", \"busy\", \"rejected\", \"failed\", \"voicemail\", \"balance_exhausted\", \"max_duration\", \"unknown\", None]",
        # Null while it lasts.
        "ended_at": "str | None",
        # Who called; empty on a WebSocket.
        "from": "str",
        "headers": "NotRequired[CallHeaders]",
        # Of the call and its session: the receipt has the same.
        "id": "str",
        "metadata": "NotRequired[Metadata]",
        # How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known.
        "mos": "float | None",
        # What somebody wrote about it; it is deleted with the transcript.
        "note": "NotRequired[str]",
        # Where a call that came in was before, as the far end says; absent: it says nothing. It is
        # deleted with the transcript.
        "origin": "NotRequired[CallOrigin]",
        # Status of the call.
        "status": "Literal[\"dialing\", \"ringing\", \"connected\", \"ended\"]",
        # What people call it.
        "tags": "NotRequired[list[str]]",
        # Who was called.
        "to": "str",
        # What the carrier of a call that came in says of the caller's number (ATIS-1000074), such
        # as TN-Validation-Passed or TN-Validation-Failed; null: nothing.
        "verstat": "str | None",
        # What half of its turns took at most, from the caller's last word to the first audio, in
        # milliseconds; absent: it has none, lasts, or has just ended, and in events.
        "wait_p50_ms": "NotRequired[int]",
    },
)


class CallAsked(TypedDict):
    # What went wrong; null: nothing.
    error: str | None
    # Until its answer, or the failure, in milliseconds.
    latency_ms: int
    # answered: what it said counts. refused: it refused the call. failed: it did not answer in
    # time, or not as it should, and the number's own agent answered.
    outcome: Literal["answered", "refused", "failed"]
    # HTTP status of its answer; 0: there was none.
    status: int
    # The webhook. It may have been deleted since.
    webhook_id: str


CallBegun = TypedDict(
    "CallBegun",
    {
        # The agent; null when the client brought its own prompt.
        "agent_id": "str | None",
        # When it was answered; not in call.started.
        "answered_at": "NotRequired[str]",
        # How well the carrier where it began knows the caller (ATIS-1000074); absent: nobody says.
        "attestation": "NotRequired[Literal[\"A\", \"B\", \"C\"]]",
        # When it began to ring, to be dialled or to be set up.
        "created_at": "str",
        # Over a WebSocket, to one of the account's numbers, or placed by an agent.
        "direction": "Literal[\"web\", \"inbound\", \"outbound\"]",
        # Who called; empty on a WebSocket.
        "from": "str",
        "headers": "NotRequired[CallHeaders]",
        # Of the call.
        "id": "str",
        "metadata": "NotRequired[Metadata]",
        # Where a call that came in was before, as the far end says; absent: it says nothing.
        "origin": "NotRequired[CallOrigin]",
        # Who was called.
        "to": "str",
        # What the carrier of a call that came in says of the caller's number (ATIS-1000074);
        # absent: nothing.
        "verstat": "NotRequired[str]",
    },
)


class CallChange(TypedDict):
    # Values that take the place of those of the same names; null takes a name away, and names that
    # are absent stay.
    metadata: NotRequired[dict[str, str | None]]
    # What somebody writes about it; empty: none.
    note: NotRequired[str]
    # What people call it, in place of the tags that it has: 20 of 40 characters at most.
    tags: NotRequired[list[str]]


class CallCompletion(TypedDict):
    # What the model wrote, 32 kB at most. Not all of it was heard.
    answer: str
    # Seconds from the answer of the call to the question.
    at: float
    # The engine that answered, as settings of agents name it; null: not known.
    engine: str | None
    # Why it failed; null: it did not.
    failure: str | None
    # Why the model stopped: it had said all, reached its limit, waits for functions, or its vendor
    # held the rest back; null: it does not say.
    finish: Literal["stop", "length", "tools", "filter", None]
    # Milliseconds until its first words or function; null: there were none.
    first_ms: int | None
    # The functions that it wanted to call.
    functions: list[CompletionFunction]
    # How many entries of the conversation the model was given.
    message_count: int
    # Names it in its call: 0, 1, 2…
    no: int
    # pending: it is being answered, or the server was lost before. cut: nobody wanted the rest, as
    # when the caller went on.
    outcome: Literal["pending", "done", "cut", "failed"]
    # Milliseconds until the answer was over; null: it is not.
    took_ms: int | None


class CallCompletionDetail(TypedDict):
    # What the model wrote, 32 kB at most. Not all of it was heard.
    answer: str
    # Seconds from the answer of the call to the question.
    at: float
    # The engine that answered, as settings of agents name it; null: not known.
    engine: str | None
    # Why it failed; null: it did not.
    failure: str | None
    # Why the model stopped: it had said all, reached its limit, waits for functions, or its vendor
    # held the rest back; null: it does not say.
    finish: Literal["stop", "length", "tools", "filter", None]
    # Milliseconds until its first words or function; null: there were none.
    first_ms: int | None
    # The functions that it wanted to call.
    functions: list[CompletionFunction]
    # The conversation as the model was given it.
    messages: list[CompletionMessage]
    # Names it in its call: 0, 1, 2…
    no: int
    # pending: it is being answered, or the server was lost before. cut: nobody wanted the rest, as
    # when the caller went on.
    outcome: Literal["pending", "done", "cut", "failed"]
    # The prompt, with its variables filled in.
    system: str
    # Milliseconds until the answer was over; null: it is not.
    took_ms: int | None
    # The functions that it might call.
    tools: list[CompletionTool]


class CallCompletions(TypedDict):
    # The questions, the first one first.
    data: list[CallCompletion]


class CallCut(TypedDict):
    # When, in milliseconds since the answer: the caller spoke over it, hung up, or was connected to
    # somebody.
    at_ms: int
    # What the agent would have said further, as far as it was made: nobody heard it, and the model
    # does not see it.
    unheard: str


CallDetail = TypedDict(
    "CallDetail",
    {
        # The agent that spoke; null when the client brought its own prompt. It may have been
        # deleted since.
        "agent_id": "str | None",
        # The agent's version that it ran with; null when it had none.
        "agent_version": "int | None",
        # What the agent's language model made of it after its end; absent: the agent wants nothing
        # of it.
        "analysis": "NotRequired[CallAnalysis]",
        # When it was answered and began to cost; null: never.
        "answered_at": "str | None",
        # Who answered a call that an agent placed: a person, an answering machine, an assistant
        # that screens calls, or unknown; null: nobody answered, or the call came in.
        "answered_by": "Literal[\"human\", \"machine\", \"screening\", \"unknown\", None]",
        # How the webhook of the called number was asked who answers; absent: it was not.
        "asked": "NotRequired[CallAsked]",
        # How well the carrier where a call that came in began knows the caller (ATIS-1000074): A,
        # it knows its customer and that the number is theirs; B, it knows its customer; C, it knows
        # neither. null: nobody says, or nobody vouches for the trunk.
        "attestation": "Literal[\"A\", \"B\", \"C\", None]",
        # What it has cost so far.
        "cost": "float",
        # When it began to ring, to be dialled or to be set up.
        "created_at": "str",
        # When its transcript and recording were deleted, on request or because the account had kept
        # them long enough; null: they were not.
        "deleted_at": "str | None",
        # It came with the demonstration: it was recorded on another server, and nobody called.
        # Absent: somebody did.
        "demonstration": "NotRequired[bool]",
        # Over a WebSocket, to one of the account's numbers, or placed by an agent.
        "direction": "Literal[\"web\", \"inbound\", \"outbound\"]",
        # Whole seconds since the answer; 0 before.
        "duration": "int",
        # The finer cause, if there is one.
        "end_detail": "str | None",
        # Why it ended; null while it lasts.
        "end_reason": "Literal[\"completed\", \"user_hangup\", \"agent_hangup\", \"api_hangup\", \"no_answer\", \"busy\", \"rejected\", \"failed\", \"voicemail\", \"balance_exhausted\", \"max_duration\", \"unknown\", None]",
        # Null while it lasts.
        "ended_at": "str | None",
        # The engines that served it, in the order in which they began to: after the first come
        # those that took over. Absent when it is not known.
        "engines": "NotRequired[CallEngines]",
        # Who called; empty on a WebSocket.
        "from": "str",
        # The functions that its model called, in the order in which they began: the first 500.
        "functions": "list[CallFunction]",
        "headers": "NotRequired[CallHeaders]",
        # Of the call and its session: the receipt has the same.
        "id": "str",
        # Who listened in on it, in the order in which they joined; absent: nobody.
        "listeners": "NotRequired[list[CallListener]]",
        "metadata": "NotRequired[Metadata]",
        # How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known.
        "mos": "float | None",
        # What somebody wrote about it; it is deleted with the transcript.
        "note": "NotRequired[str]",
        # Where a call that came in was before, as the far end says; absent: it says nothing. It is
        # deleted with the transcript.
        "origin": "NotRequired[CallOrigin]",
        # Its recording; absent: it was not recorded.
        "recording": "NotRequired[CallRecording]",
        # Status of the call.
        "status": "Literal[\"dialing\", \"ringing\", \"connected\", \"ended\"]",
        # What people call it.
        "tags": "NotRequired[list[str]]",
        # Who was called.
        "to": "str",
        # Who said what, in order.
        "transcript": "list[CallLine]",
        # Lines that followed and were not kept: a transcript has 5,000 lines and about 512 kB at
        # most.
        "transcript_omitted": "NotRequired[int]",
        # The response latency of each turn.
        "turns": "list[CallTurn]",
        # What the engines of vendors and language models used in it, and after it for its summary
        # and what was extracted, by engine and unit. Absent while it lasts, and when it is not
        # known.
        "usage": "NotRequired[list[EngineUsage]]",
        # What the carrier of a call that came in says of the caller's number (ATIS-1000074), such
        # as TN-Validation-Passed or TN-Validation-Failed; null: nothing.
        "verstat": "str | None",
        # What half of its turns took at most, from the caller's last word to the first audio, in
        # milliseconds; absent: it has none, lasts, or has just ended, and in events.
        "wait_p50_ms": "NotRequired[int]",
    },
)


class CallDiversion(TypedDict):
    # Its name.
    name: NotRequired[str]
    # Its number; empty: it is private.
    number: str
    # Why, as the far end has it.
    reason: NotRequired[str]


class CallEngines(TypedDict):
    # Recognition; empty: nothing was heard.
    asr: list[str]
    # The language model.
    llm: list[str]
    # The voice.
    tts: list[str]


class CallFigures(TypedDict):
    # That as a share of all, with four digits; null: there are no calls.
    answer_rate: float | None
    # How many of them were answered; on a WebSocket, had a first prompt.
    answered: int
    # How many have ended.
    calls: int
    # What they have cost, with what was charged for them after their end.
    cost: float
    # Seconds since their answers, all together.
    duration: int


class CallFunction(TypedDict):
    # As the model wrote them, 4 kB at most; usually a JSON object.
    arguments: str
    # When the model had its result; null: not yet, or the server was lost before.
    end_ms: int | None
    # Unique in the call.
    id: str
    # As the agent's tools have it.
    name: str
    # How it went; null likewise: whether it was done is not known.
    outcome: Literal["ok", "error", "timeout", "cancelled", "unknown_tool", None]
    # As the model got it, secrets masked. Of a call with many long results the later ones are not
    # kept.
    result: str | None
    # Who runs it: this server, or the client of the conversation.
    run_by: Literal["server", "client"]
    # When it was called, in milliseconds since the answer.
    start_ms: int
    # The caller's turn in which it was called.
    turn: int


class CallLine(TypedDict):
    # Seconds since the answer: when the agent's line was over, or the caller's was taken to be.
    at: float
    # The agent was cut off here; absent: it was not.
    interrupted: NotRequired[CallCut]
    # Who said it: supervisor is a person who spoke in the agent's place.
    role: Literal["user", "agent", "supervisor"]
    # The words; of the agent's those that were heard.
    text: str
    # The words of the text, in order, and when they were said. Absent: they were typed, or the line
    # is of a call before they were kept.
    words: NotRequired[list[CallWord] | None]
    # The times of the words are an estimate, of some or of all: the speech recognition or the voice
    # gave none. The words then share the caller's speech, pauses left out, or the audio of the
    # sentence, by their length.
    words_estimated: NotRequired[bool]


class CallListener(TypedDict):
    # The user, the account's key, or the agent whose settings send its calls on.
    by: str
    # The user's address; null: it was none, or they are gone.
    email: str | None
    # Why a stream could not begin, or ended before the call; null: neither.
    failure: str | None
    # The host to which a stream of the call went for them; null: they heard it themselves.
    host: str | None
    # The identifier of this part in the call; of a stream its own.
    id: str
    # When they began.
    joined_at: str
    # When they stopped; null: they have not, or their server was lost.
    left_at: str | None
    # When they first spoke in the agent's place; null: they have not.
    spoke_at: str | None


class CallOrigin(TypedDict):
    # Who has sent the call on, the last first (Diversion, RFC 5806): 16 at most.
    diversions: NotRequired[list[CallDiversion]]
    # The telephone that has sent the call on to this number last; absent: the call came directly,
    # or nobody says.
    diverted_by: NotRequired[str]
    # The number that the caller has dialled, where the call was sent on.
    first_called: NotRequired[str]
    # Where the call was sent to, in order (History-Info, RFC 7044): 16 at most.
    history: NotRequired[list[CallStation]]
    # Identifies where the call entered the network of the carrier that attests the caller.
    orig_id: NotRequired[str]


CallOver = TypedDict(
    "CallOver",
    {
        # The agent that spoke; null when the client brought its own prompt. It may have been
        # deleted since.
        "agent_id": "str | None",
        # The agent's version that it ran with; null when it had none.
        "agent_version": "int | None",
        # When it was answered and began to cost; null: never.
        "answered_at": "str | None",
        # Who answered a call that an agent placed: a person, an answering machine, an assistant
        # that screens calls, or unknown; null: nobody answered, or the call came in.
        "answered_by": "Literal[\"human\", \"machine\", \"screening\", \"unknown\", None]",
        # How well the carrier where a call that came in began knows the caller (ATIS-1000074): A,
        # it knows its customer and that the number is theirs; B, it knows its customer; C, it knows
        # neither. null: nobody says, or nobody vouches for the trunk.
        "attestation": "Literal[\"A\", \"B\", \"C\", None]",
        # What it has cost so far.
        "cost": "float",
        # When it began to ring, to be dialled or to be set up.
        "created_at": "str",
        # When its transcript and recording were deleted, on request or because the account had kept
        # them long enough; null: they were not.
        "deleted_at": "str | None",
        # It came with the demonstration: it was recorded on another server, and nobody called.
        # Absent: somebody did.
        "demonstration": "NotRequired[bool]",
        # Over a WebSocket, to one of the account's numbers, or placed by an agent.
        "direction": "Literal[\"web\", \"inbound\", \"outbound\"]",
        # Whole seconds since the answer; 0 before.
        "duration": "int",
        # The finer cause, if there is one.
        "end_detail": "str | None",
        # Why it ended; null while it lasts.
        "end_reason": "Literal[\"completed\", \"user_hangup\", \"agent_hangup\", \"api_hangup\", \"no_answer\", \"busy\", \"rejected\", \"failed\", \"voicemail\", \"balance_exhausted\", \"max_duration\", \"unknown\", None]",
        # Null while it lasts.
        "ended_at": "str | None",
        # Who called; empty on a WebSocket.
        "from": "str",
        "headers": "NotRequired[CallHeaders]",
        # Of the call and its session: the receipt has the same.
        "id": "str",
        "metadata": "NotRequired[Metadata]",
        # How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known.
        "mos": "float | None",
        # What somebody wrote about it; it is deleted with the transcript.
        "note": "NotRequired[str]",
        # Where a call that came in was before, as the far end says; absent: it says nothing. It is
        # deleted with the transcript.
        "origin": "NotRequired[CallOrigin]",
        # Status of the call.
        "status": "Literal[\"dialing\", \"ringing\", \"connected\", \"ended\"]",
        # What people call it.
        "tags": "NotRequired[list[str]]",
        # Who was called.
        "to": "str",
        # How often the agent answered.
        "turn_count": "int",
        # What the carrier of a call that came in says of the caller's number (ATIS-1000074), such
        # as TN-Validation-Passed or TN-Validation-Failed; null: nothing.
        "verstat": "str | None",
        # What half of its turns took at most, from the caller's last word to the first audio, in
        # milliseconds; absent: it has none, lasts, or has just ended, and in events.
        "wait_p50_ms": "NotRequired[int]",
    },
)


class CallPoints(TypedDict):
    # The last of the caller's words was recognised for good; null: the turn was typed, or answered
    # before. Below 0 when the recognition was ahead of the caller's last sound.
    final_text_ms: int | None
    # The voice gave its first audio.
    first_audio_ms: int | None
    # The first of it was sent to the caller.
    first_packet_ms: int | None
    # Its first sentence was complete, and went to the voice.
    first_sentence_ms: int | None
    # The language model wrote its first words. It may have been asked before the turn was over. Of
    # a reply that follows a function, the words after it.
    first_token_ms: int | None
    # When the caller's speech ended, in milliseconds since the answer; of a typed turn, when it was
    # typed. The other points are milliseconds after it.
    speech_end_ms: int


class CallQuality(TypedDict):
    # Whether there is something to say: false before a call is answered and for one over a
    # WebSocket; then all else is 0.
    available: bool
    # Audio made up in place of lost packets.
    concealed_ms: int
    # Whether the audio was encrypted (SRTP).
    encrypted: bool
    # Interarrival jitter at the end (RFC 3550 section 6.4.1).
    jitter_ms: float
    # packets_lost as a share of what was sent, 0 to 1.
    loss: float
    # Mean score of the worse direction, what the agent heard or what this server sent in time, 1 to
    # 4.4 (ITU-T G.107); 0 when nothing came.
    mos: float
    # The score of its worst 5 seconds.
    mos_min: float
    # From addresses that are not the far end's, dropped.
    packets_foreign: int
    # Those of them that came too late.
    packets_late: int
    # Never heard: lost on the way, or too late.
    packets_lost: int
    # Without duplicates.
    packets_received: int
    # To the far end.
    packets_sent: int
    # Those of them that this server sent more than 40 ms after they were due, which most telephones
    # play no more.
    packets_sent_late: int
    # Those that it did not send because it was too busy.
    packets_unsent: int
    # The far end's jitter, likewise.
    remote_jitter_ms: float
    # The share of them that the far end lost, in its last report.
    remote_loss: float
    # Round trip of the last reports.
    rtt_ms: float


class CallRecording(TypedDict):
    # Size of the file.
    bytes: int
    # When it was deleted; null: it was not.
    deleted_at: str | None
    # Somebody's request, or because the account had kept it long enough.
    deleted_by: Literal["request", "expiry", None]
    # Seconds; 0 before it has ended.
    duration: float
    # Until when it is kept; null: it is not any more.
    expires_at: str | None
    # What it is kept as; null until it is ready.
    format: Literal["ogg", "wav", None]
    # Status of the recording; failed has no audio.
    state: Literal["recording", "encoding", "ready", "failed", "deleted"]


CallSaid = TypedDict(
    "CallSaid",
    {
        # The agent that spoke; null when the client brought its own prompt. It may have been
        # deleted since.
        "agent_id": "str | None",
        # The agent's version that it ran with; null when it had none.
        "agent_version": "int | None",
        # When it was answered and began to cost; null: never.
        "answered_at": "str | None",
        # Who answered a call that an agent placed: a person, an answering machine, an assistant
        # that screens calls, or unknown; null: nobody answered, or the call came in.
        "answered_by": "Literal[\"human\", \"machine\", \"screening\", \"unknown\", None]",
        # How well the carrier where a call that came in began knows the caller (ATIS-1000074): A,
        # it knows its customer and that the number is theirs; B, it knows its customer; C, it knows
        # neither. null: nobody says, or nobody vouches for the trunk.
        "attestation": "Literal[\"A\", \"B\", \"C\", None]",
        # What it has cost so far.
        "cost": "float",
        # When it began to ring, to be dialled or to be set up.
        "created_at": "str",
        # When its transcript and recording were deleted, on request or because the account had kept
        # them long enough; null: they were not.
        "deleted_at": "str | None",
        # It came with the demonstration: it was recorded on another server, and nobody called.
        # Absent: somebody did.
        "demonstration": "NotRequired[bool]",
        # Over a WebSocket, to one of the account's numbers, or placed by an agent.
        "direction": "Literal[\"web\", \"inbound\", \"outbound\"]",
        # Whole seconds since the answer; 0 before.
        "duration": "int",
        # The finer cause, if there is one.
        "end_detail": "str | None",
        # Why it ended; null while it lasts.
        "end_reason": "Literal[\"completed\", \"user_hangup\", \"agent_hangup\", \"api_hangup\", \"no_answer\", \"busy\", \"rejected\", \"failed\", \"voicemail\", \"balance_exhausted\", \"max_duration\", \"unknown\", None]",
        # Null while it lasts.
        "ended_at": "str | None",
        # Who called; empty on a WebSocket.
        "from": "str",
        "headers": "NotRequired[CallHeaders]",
        # Of the call and its session: the receipt has the same.
        "id": "str",
        "metadata": "NotRequired[Metadata]",
        # How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known.
        "mos": "float | None",
        # What somebody wrote about it; it is deleted with the transcript.
        "note": "NotRequired[str]",
        # Where a call that came in was before, as the far end says; absent: it says nothing. It is
        # deleted with the transcript.
        "origin": "NotRequired[CallOrigin]",
        # Status of the call.
        "status": "Literal[\"dialing\", \"ringing\", \"connected\", \"ended\"]",
        # What a language model made of the transcript.
        "summary": "str",
        # What people call it.
        "tags": "NotRequired[list[str]]",
        # Who was called.
        "to": "str",
        # What the carrier of a call that came in says of the caller's number (ATIS-1000074), such
        # as TN-Validation-Passed or TN-Validation-Failed; null: nothing.
        "verstat": "str | None",
        # What half of its turns took at most, from the caller's last word to the first audio, in
        # milliseconds; absent: it has none, lasts, or has just ended, and in events.
        "wait_p50_ms": "NotRequired[int]",
    },
)


class CallState(TypedDict):
    # Who answered, once it is known: at most four seconds after the answer.
    answered_by: NotRequired[Literal["human", "machine", "screening", "unknown"]]
    # Whole seconds since the answer; 0 before.
    duration: int
    # The finer cause, if there is one.
    end_detail: NotRequired[str]
    # Why it ended.
    end_reason: NotRequired[Literal["completed", "user_hangup", "agent_hangup", "api_hangup", "no_answer", "busy", "rejected", "failed", "voicemail", "balance_exhausted", "max_duration", "unknown"]]
    # Status of the call. It only goes forward; a state may be skipped.
    status: Literal["dialing", "ringing", "connected", "ended"]
    # The words so far.
    transcript: list[SpokenLine]


class CallStation(TypedDict):
    # The code of SIP for which the call was sent there, or went on from there.
    cause: NotRequired[int]
    # Its place in the tree of RFC 7044.
    index: str
    # Its name.
    name: NotRequired[str]
    # The number, or another user; empty: it is private.
    number: str


CallSummary = TypedDict(
    "CallSummary",
    {
        # The agent that spoke; null when the client brought its own prompt. It may have been
        # deleted since.
        "agent_id": "str | None",
        # The agent's version that it ran with; null when it had none.
        "agent_version": "int | None",
        # When it was answered and began to cost; null: never.
        "answered_at": "str | None",
        # Who answered a call that an agent placed: a person, an answering machine, an assistant
        # that screens calls, or unknown; null: nobody answered, or the call came in.
        "answered_by": "Literal[\"human\", \"machine\", \"screening\", \"unknown\", None]",
        # How well the carrier where a call that came in began knows the caller (ATIS-1000074): A,
        # it knows its customer and that the number is theirs; B, it knows its customer; C, it knows
        # neither. null: nobody says, or nobody vouches for the trunk.
        "attestation": "Literal[\"A\", \"B\", \"C\", None]",
        # What it has cost so far.
        "cost": "float",
        # When it began to ring, to be dialled or to be set up.
        "created_at": "str",
        # When its transcript and recording were deleted, on request or because the account had kept
        # them long enough; null: they were not.
        "deleted_at": "str | None",
        # It came with the demonstration: it was recorded on another server, and nobody called.
        # Absent: somebody did.
        "demonstration": "NotRequired[bool]",
        # Over a WebSocket, to one of the account's numbers, or placed by an agent.
        "direction": "Literal[\"web\", \"inbound\", \"outbound\"]",
        # Whole seconds since the answer; 0 before.
        "duration": "int",
        # The finer cause, if there is one.
        "end_detail": "str | None",
        # Why it ended; null while it lasts.
        "end_reason": "Literal[\"completed\", \"user_hangup\", \"agent_hangup\", \"api_hangup\", \"no_answer\", \"busy\", \"rejected\", \"failed\", \"voicemail\", \"balance_exhausted\", \"max_duration\", \"unknown\", None]",
        # Null while it lasts.
        "ended_at": "str | None",
        # Who called; empty on a WebSocket.
        "from": "str",
        "headers": "NotRequired[CallHeaders]",
        # Of the call and its session: the receipt has the same.
        "id": "str",
        "metadata": "NotRequired[Metadata]",
        # How a telephone call sounded, 1 to 4.4 (ITU-T G.107); null: not known.
        "mos": "float | None",
        # What somebody wrote about it; it is deleted with the transcript.
        "note": "NotRequired[str]",
        # Where a call that came in was before, as the far end says; absent: it says nothing. It is
        # deleted with the transcript.
        "origin": "NotRequired[CallOrigin]",
        # Status of the call.
        "status": "Literal[\"dialing\", \"ringing\", \"connected\", \"ended\"]",
        # What people call it.
        "tags": "NotRequired[list[str]]",
        # Who was called.
        "to": "str",
        # What the carrier of a call that came in says of the caller's number (ATIS-1000074), such
        # as TN-Validation-Passed or TN-Validation-Failed; null: nothing.
        "verstat": "str | None",
        # What half of its turns took at most, from the caller's last word to the first audio, in
        # milliseconds; absent: it has none, lasts, or has just ended, and in events.
        "wait_p50_ms": "NotRequired[int]",
    },
)


class CallTurn(TypedDict):
    # When the reply was first heard, since the answer.
    at_ms: int
    # From the caller's last word to the decision that they have finished.
    endpoint_ms: int
    # Of the reply.
    generation: int
    # The wait for the model after that, until its first words; little when the reply was
    # speculative.
    model_ms: int
    # The six points of the turn; absent in calls of before they were kept.
    points: NotRequired[CallPoints]
    # From the last word to the first audio. What the other three do not add up to is the server's
    # own time.
    total_ms: int
    # 1, 2, 3…
    turn: int
    # The wait after them, for the rest of the first sentence and the first audio.
    voice_ms: int


class CallWindow(TypedDict):
    # When it ends; before the start, it goes on past midnight.
    end: str
    # When it begins, by a clock of 24 hours.
    start: str
    # By whose clocks: a time zone as IANA names it, or destination, where the number called is.
    # Where a number may be in several zones, it must be within the window in all of them.
    timezone: str


class CallWord(TypedDict):
    # When it was over.
    end_ms: int
    # When it began, in milliseconds since the answer.
    start_ms: int
    # As it stands in the line.
    text: str


class CanceledOutputBody(TypedDict):
    # Always canceled.
    status: Literal["canceled"]
    # The task; it is not known any more.
    task_id: str


class Case(TypedDict):
    # When it was made.
    created_at: str
    # Names it.
    id: str
    # What it is called, 100 characters at most; no other case of the agent has it.
    name: str
    # What the caller does and what is expected of the agent, as `parley simulate --schema`
    # describes it; 64 kB at most.
    script: dict[str, Any]
    # When it was changed last.
    updated_at: str


class CaseDraft(TypedDict):
    # What it is called, 100 characters at most; no other case of the agent has it.
    name: str
    # What the caller does and what is expected of the agent, as `parley simulate --schema`
    # describes it; 64 kB at most.
    script: dict[str, Any]


class Change(TypedDict):
    # What it is; absent: it is not there.
    after: NotRequired[Any]
    # What it was; absent: it was not there.
    before: NotRequired[Any]
    # The field.
    path: str


class ChangeInputBody(TypedDict):
    # What it is for.
    description: NotRequired[str]
    # Whether events are sent to it.
    enabled: NotRequired[bool]
    # The types of events that it wants; an empty list: all.
    events: NotRequired[list[str]]
    # Where events are sent.
    url: NotRequired[str]


class ChangedUser(TypedDict):
    # When they were made.
    created_at: str
    # Since when they may not sign in; null: they may.
    disabled_at: str | None
    # With which they sign in.
    email: str
    # Names them in requests.
    id: str
    # The keys that they made and that were good, the newest first; revoked_at is null of those that
    # still are.
    keys: list[APIKey]
    # An operator looks after all accounts, a member has only their own.
    role: Literal["operator", "member"]
    # When they signed in last; null: never.
    signed_in_at: str | None


class Check(TypedDict):
    # What was found.
    detail: str
    # What to do about it; empty when it is ok.
    fix: str
    # What was looked at.
    name: str
    # warn: it works with a restriction.
    status: Literal["ok", "warn", "fail"]


class CheckList(TypedDict):
    # All checks.
    data: list[Check]


class ComparedAnswer(TypedDict):
    # Now says or calls something else than then, or without that than the call.
    differs: bool
    # What the caller said.
    heard: str
    # What it does in the version, or the draft, that is compared.
    now: AnswerSide
    # What the agent did in the call: its words as far as they were heard.
    recorded: AnswerSide
    # What it does in the version compared with; absent: it is compared with the calls as they were.
    then: NotRequired[AnswerSide]
    # From 1; 0 is the first message.
    turn: int


class ComparedCall(TypedDict):
    # The version of the agent that it ran with; null: not known.
    agent_version: int | None
    # What the models say in each turn of the recorded call, up to where another agent took it over;
    # empty: they were not asked.
    answers: list[ComparedAnswer]
    # The call.
    call_id: str
    # Why it would end.
    ended_now: NotRequired[str]
    # Why it ended; absent: that was not kept.
    ended_then: NotRequired[str]
    # Whether anything differs; unreadable when what is kept of the call cannot be conducted again,
    # skipped when there was no time for it.
    outcome: Literal["same", "differs", "unreadable", "skipped"]
    # When it began.
    started_at: str
    # The turns that differ.
    turns: list[ComparedTurn]
    # How many turns there are, in one of the two or in both.
    turns_total: int
    # Replies that the record has no words for: a sentence of the same kind stands in for each.
    unheard: NotRequired[int]


class ComparedFunction(TypedDict):
    # What it is called with, JSON.
    arguments: NotRequired[str]
    # Its name.
    name: str
    # It was called so in the recorded turn, and its result was given again. False: it would be
    # called, and the answer ends there.
    recorded: bool


class ComparedTurn(TypedDict):
    # As it would be; null: there would be no such turn.
    now: TurnSide
    # As it was, or is with the version compared with; null: there was no such turn.
    then: TurnSide


class Comparison(TypedDict):
    # The calls, the newest first; empty: none of the agent's latest was recorded.
    calls: list[ComparedCall]
    # Tokens that the models have read.
    in_tokens: int
    # Turns that the models were not asked about.
    left_out: int
    # Tokens that they have written.
    out_tokens: int
    # Why turns were left out: there are more than 100, the time was over, or the balance or a limit
    # of spending was used up.
    stopped: NotRequired[Literal["turns", "time", "balance"]]


class CompletionFunction(TypedDict):
    # As the model wrote them.
    arguments: str
    # As the model names the call.
    id: str
    # The function.
    name: str


class CompletionMessage(TypedDict):
    # Of a result: the call that it is of.
    function_id: NotRequired[str]
    # The functions that the agent called here.
    functions: NotRequired[list[CompletionFunction]]
    # The agent was cut off here.
    interrupted: NotRequired[bool]
    # Who said it; tool: the result of a function.
    role: Literal["user", "agent", "tool"]
    # The words, of the agent's those that were heard; or the result.
    text: str


class CompletionTool(TypedDict):
    # What the model knows of it.
    description: str
    # The function.
    name: str
    # JSON Schema of its arguments; absent: it has none.
    parameters: NotRequired[Any]


class Concurrency(TypedDict):
    # How many there may be at once.
    limit: int
    # Sessions in progress.
    live: int


class Consent(TypedDict):
    # Your account.
    account_id: str
    # The agent that spoke.
    agent_id: str
    # When it was confirmed.
    at: str
    # The call that was placed.
    call_id: str
    # Where the request came from.
    ip: str
    # The API key that confirmed it, or stands behind the ticket that did.
    key_id: str
    # 1, 2, 3… without gaps.
    no: int
    # Vouches for this row and all before it.
    seal: str
    # Stands for the number called; the same for each call to it.
    to_hash: str


class Counts(TypedDict):
    # Being dialled.
    dialing: int
    # Not placed, as error says.
    failed: int
    # Not dialled yet.
    pending: int
    # Placed: answered or not, as end_reason says.
    sent: int


class CreatedAccount(TypedDict):
    # With create_key: a key of the account with the role owner, shown this once.
    api_key: NotRequired[str]
    # In US dollars, sessions in progress counted.
    balance: float
    # Sessions at once, where an operator has set that; null: as the rate card says.
    concurrency: int | None
    # How long the contents of calls are kept: transcripts, summaries, and recordings at the
    # longest; null: until somebody deletes it.
    conversation_days: int | None
    # When it was made.
    created_at: str
    # Where warnings are mailed; empty: nowhere.
    email: str
    # Null before the first top-up.
    first_topup_at: str | None
    # Names the account in requests.
    id: str
    # Sessions in progress.
    live: int
    # Who belongs to it, owners first; empty: it is used by its keys alone.
    members: list[Member]
    # For people.
    name: str
    # Payments that are disputed: while there is one, nothing starts.
    open_disputes: int
    # How long recordings of calls are kept.
    recording_days: int
    # What the rate card says.
    standard_concurrency: int
    # By an operator: nothing starts.
    suspended: bool


class CreatedInvitation(TypedDict):
    # When it was made.
    created_at: str
    # Whom it is for.
    email: str
    # Until when its link is good.
    expires_at: str
    # Names it in requests; it is no secret.
    id: str
    # The address of who invited them; null: an API key, or somebody who is no longer there.
    invited_by: str | None
    # What they will be.
    role: Literal["owner", "member"]
    # The link to send to them, shown this once.
    url: str


class CreatedKey(TypedDict):
    # The key itself, shown this once.
    api_key: str
    # When it was made.
    created_at: str
    # Identifier of the user, or of the account's key, that made it; null: it was made on the
    # server, or before this was noted.
    created_by: str | None
    # The user's address; null: it was no user, or they are gone.
    created_by_email: str | None
    # Names the key in requests; it is no secret.
    id: str
    # The key's last four characters.
    last4: str
    # To the minute; null: never.
    last_used_at: str | None
    # Whether it may listen in on calls.
    listen: bool
    # Whether it may change what is paid: automatic recharge, limits of spending.
    money: bool
    # What it is for.
    name: str
    # Null while it is good.
    revoked_at: str | None
    # What it may do: a member's key all but members, an owner's all. Changes of what is paid need
    # the mark money as well.
    role: Literal["member", "owner"]
    # Whether it may speak in calls, too.
    speak: bool


class DayFigures(TypedDict):
    # That as a share of all, with four digits; null: there are no calls.
    answer_rate: float | None
    # How many of them were answered; on a WebSocket, had a first prompt.
    answered: int
    # How many have ended.
    calls: int
    # What they have cost, with what was charged for them after their end.
    cost: float
    # On which they began, UTC.
    day: str
    # Seconds since their answers, all together.
    duration: int
    # Half of their turns waited no longer from the caller's last word to the first audio, in
    # milliseconds, within 4.5 %; null: no turn was answered.
    p50_ms: int | None
    # 95 of a hundred, likewise.
    p95_ms: int | None


class Delivery(TypedDict):
    # The call, or the event of the account; of a test the event itself.
    about: str
    # The last twenty, oldest first.
    attempts: list[Attempt]
    # When it happened.
    created_at: str
    # When it arrived or was given up; null while it is on its way.
    ended_at: str | None
    # Of the event, and in the header webhook-id.
    id: str
    # When it is tried next; null: never.
    next_at: str | None
    # Pending, delivered or given up.
    state: Literal["pending", "delivered", "failed"]
    # What happened.
    type: str


class DenoiseBody(TypedDict):
    # The recording.
    audio: File


class DoNotCall(TypedDict):
    # The call in which it was asked for; null when it was in none.
    call_id: str | None
    # In international format.
    number: str
    # Why, in somebody's words; may be empty.
    reason: str
    # When it was put there.
    since: str
    # Who put it on the list: a client of this interface, an agent that was asked to, the operator,
    # or the number itself, with a text message such as STOP.
    source: Literal["api", "agent", "operator", "message"]


class EngineFault(TypedDict):
    # As of any error: engine.key_refused when the vendor refuses the key.
    code: str
    # What the vendor said, where it is a refusal.
    detail: NotRequired[str]
    # The same for people.
    error: str
    # Whether the same may work later.
    retryable: bool


class EngineKey(TypedDict):
    # When the engine got its first key.
    created_at: str
    # The engine, as settings of agents name it.
    engine: str
    # The last characters of the key, which is never shown.
    last4: str
    # What the vendor said then; null likewise.
    refusal: str | None
    # When the vendor refused it: it is not used any more. Null: it has not.
    refused_at: str | None
    # The user or the API key of the account that set it.
    set_by: str
    # When this one was set.
    updated_at: str


class EngineLatency(TypedDict):
    # How many calls had such turns.
    calls: int
    # The engine, as settings of agents name it.
    engine: str
    # Half of the turns waited no longer, in milliseconds.
    p50_ms: int
    # 95 of a hundred.
    p95_ms: int
    # llm: from the decision that the caller has finished to the model's first words, little where
    # the reply was speculative. tts: from the first whole sentence to the voice's first audio.
    stage: Literal["llm", "tts"]
    # How many they had.
    turns: int


EngineLatencyList = TypedDict(
    "EngineLatencyList",
    {
        # The engines that have turns, by stage and name.
        "data": "list[EngineLatency]",
        # Not before this.
        "from": "str",
        # Before this.
        "to": "str",
    },
)


class EngineTest(TypedDict):
    # Why it does not; absent: it does.
    error: NotRequired[EngineFault]
    # The engine works with the key.
    ok: bool
    # How long that took, in milliseconds.
    took_ms: int


class EngineTotal(TypedDict):
    # What the vendor charges the operator, who alone sees it, where the server's settings say that.
    cost: NotRequired[float]
    # The engine, as settings of agents name it.
    engine: str
    # Whose key it worked with; the operator's also where it needs none.
    key_owner: Literal["operator", "account"]
    # Its model; null: the vendor's usual one, or it has none.
    model: str | None
    # What you pay for it, 0 on your own key unless the rate card says otherwise; null: it is part
    # of the price of the call or the work.
    price: float | None
    # How many; of seconds with three digits.
    quantity: float
    # In how many calls and other sessions that was.
    sessions: int
    # Who counted: the vendor, or this server.
    source: Literal["provider", "counted"]
    # What it does: hears, answers, speaks, or all three.
    stage: Literal["asr", "llm", "tts", "realtime"]
    # What is counted. tokens_in are those that were read for the first time, tokens_in_cached those
    # from the vendor's cache.
    unit: Literal["audio_seconds", "open_seconds", "characters", "requests", "tokens_in", "tokens_in_cached", "tokens_in_audio", "tokens_in_audio_cached", "tokens_out", "tokens_out_audio"]


EngineTotals = TypedDict(
    "EngineTotals",
    {
        # By engine and unit; empty: none was used.
        "data": "list[EngineTotal]",
        # Null: since the first session.
        "from": "str | None",
        # Null: until now.
        "to": "str | None",
    },
)


class EngineUsage(TypedDict):
    # What the vendor charges the operator, who alone sees it, where the server's settings say that.
    cost: NotRequired[float]
    # The engine, as settings of agents name it.
    engine: str
    # Whose key it worked with; the operator's also where it needs none.
    key_owner: Literal["operator", "account"]
    # Its model; null: the vendor's usual one, or it has none.
    model: str | None
    # What you pay for it, 0 on your own key unless the rate card says otherwise; null: it is part
    # of the price of the call or the work.
    price: float | None
    # How many; of seconds with three digits.
    quantity: float
    # Who counted: the vendor, or this server.
    source: Literal["provider", "counted"]
    # What it does: hears, answers, speaks, or all three.
    stage: Literal["asr", "llm", "tts", "realtime"]
    # What is counted. tokens_in are those that were read for the first time, tokens_in_cached those
    # from the vendor's cache.
    unit: Literal["audio_seconds", "open_seconds", "characters", "requests", "tokens_in", "tokens_in_cached", "tokens_in_audio", "tokens_in_audio_cached", "tokens_out", "tokens_out_audio"]


class Entry(TypedDict):
    # What was added to the balance; below zero when it was taken.
    amount: float
    # When it was posted.
    at: str
    # Without what sessions in progress have used.
    balance_after: float
    # Of usage: what was used; message is segments of text messages, number is a month of a number,
    # above zero when it was given back.
    component: str | None
    # 1, 2, 3… without gaps.
    id: int
    # Why the balance moved: topup, refund, dispute, welcome, bonus, adjustment, usage, expiry…;
    # there may be more kinds.
    kind: str
    # What was paid in, or credit that expires.
    pot: Literal["paid", "bonus"]
    # Of usage: the rate card that it was charged by.
    price_version: str | None
    # Of usage: the call or other session, see its receipt; null for a number.
    session_id: str | None


class Error(TypedDict):
    # One of a fixed list; programs decide by it.
    code: str
    # What exactly was wrong, when there is more to say.
    detail: NotRequired[str]
    # The same for people.
    error: str
    # Names the request, as the header X-Request-Id does: quote it to the server's operator.
    request_id: NotRequired[str]
    # Whether the same request may succeed later.
    retryable: bool


class EventAccountEvent(TypedDict):
    # What it happened to.
    data: AccountEvent
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class EventCallAnalyzed(TypedDict):
    # What it happened to.
    data: CallAnalyzed
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class EventCallBegun(TypedDict):
    # What it happened to.
    data: CallBegun
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class EventCallDetail(TypedDict):
    # What it happened to.
    data: CallDetail
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class EventCallOver(TypedDict):
    # What it happened to.
    data: CallOver
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class EventCallSaid(TypedDict):
    # What it happened to.
    data: CallSaid
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class EventFigures(TypedDict):
    # Of a number's month, a recharge or a dispute.
    amount: NotRequired[float]
    # The attempt to recharge.
    attempt: NotRequired[str]
    # What there was when it was noticed.
    balance: NotRequired[float]
    # Automatic recharge is off now.
    disabled: NotRequired[bool]
    # What the payment provider or the operator calls the dispute.
    dispute: NotRequired[str]
    # When the number's month was to be paid.
    due_at: NotRequired[str]
    # The engine whose vendor refused the account's key.
    engine: NotRequired[str]
    # What may be spent in a day (UTC).
    limit: NotRequired[float]
    # The number.
    number: NotRequired[str]
    # The number's identifier.
    number_id: NotRequired[str]
    # Why the recharge failed, in the payment provider's word; of a webhook failing or gone; of an
    # engine's key what the vendor said.
    reason: NotRequired[str]
    # When the number goes, or went.
    release_at: NotRequired[str]
    # What was spent of it, with what was held, when it was noticed.
    spent: NotRequired[float]
    # Whose limit of spending it is: the account, a key or an agent.
    subject: NotRequired[str]
    # The balance below which it is low.
    threshold: NotRequired[float]
    # The webhook that is disabled.
    webhook: NotRequired[str]


class EventIncomingCall(TypedDict):
    # What it happened to.
    data: IncomingCall
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class EventMessage(TypedDict):
    # What it happened to.
    data: Message
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class EventTestData(TypedDict):
    # What it happened to.
    data: TestData
    # Names the event; the header webhook-id holds the same, at every attempt.
    id: str
    # When it happened.
    timestamp: str
    # What happened.
    type: str


class FunctionTest(TypedDict):
    # Whether it answered, failed, or took too long.
    outcome: Literal["ok", "error", "timeout"]
    # What the model would read: of a request JSON with the status and the body of the answer, or
    # the error.
    result: str
    # How long that took, in milliseconds.
    took_ms: int


class FunctionTestInputBody(TypedDict):
    # What the model would call it with; absent: nothing.
    arguments: NotRequired[dict[str, Any]]
    # The function; of an MCP server with the name of the entry before it.
    name: str
    tools: AgentTools


class HealthReport(TypedDict):
    # The primary engines.
    inference: str
    # How much of what the server can take it has; without a key in tenths.
    load: float
    # What the program was built with, and for; without a key its name alone.
    runtime: str
    # ok when conversations can start.
    status: Literal["ok", "warming_up"]
    # When this was found out.
    timestamp: str
    # The version of the program; without a key that of the API.
    version: str


class HungUp(TypedDict):
    # The call.
    call_id: str
    # ended.
    status: Literal["ended"]


class ImportDoNotCallResult(TypedDict):
    # Numbers that were not on the list before.
    added: int
    # Lines whose number was on the list, or in an earlier line.
    known: int


class IncomingAnswer(TypedDict):
    # The agent of the account that answers; absent: the number's own.
    agent_id: NotRequired[str]
    metadata: NotRequired[Metadata]
    # true: the call is refused (603), and nothing else counts.
    refuse: NotRequired[bool]
    # Values of the variables that the agent's settings name; of the others their defaults count.
    # 1000 characters each.
    variables: NotRequired[dict[str, str]]


IncomingCall = TypedDict(
    "IncomingCall",
    {
        # The agent that answers by default; null: none.
        "agent_id": "str | None",
        # How well the carrier where the call began knows the caller (ATIS-1000074); null: nobody
        # says, or nobody vouches for the trunk.
        "attestation": "Literal[\"A\", \"B\", \"C\", None]",
        # The caller's name as the trunk asserts it, where it is trusted, else as the caller's
        # telephone shows it; empty: there is none.
        "caller_name": "str",
        # Who calls; empty when it is withheld.
        "from": "str",
        "headers": "NotRequired[CallHeaders]",
        # The called number's id.
        "number_id": "str",
        # Where the call was before, as the far end says; absent: it says nothing.
        "origin": "NotRequired[CallOrigin]",
        # The called number.
        "to": "str",
        # What the carrier says of the caller's number (ATIS-1000074); null: nothing.
        "verstat": "str | None",
    },
)


class Invitation(TypedDict):
    # When it was made.
    created_at: str
    # Whom it is for.
    email: str
    # Until when its link is good.
    expires_at: str
    # Names it in requests; it is no secret.
    id: str
    # The address of who invited them; null: an API key, or somebody who is no longer there.
    invited_by: str | None
    # What they will be.
    role: Literal["owner", "member"]


class KnowledgeAnswer(TypedDict):
    # The best first.
    passages: list[KnowledgePassage]
    # How long the search took.
    took_ms: float


class KnowledgeBase(TypedDict):
    # How large they are together.
    bytes: int
    # When it was made.
    created_at: str
    # How many documents it has.
    documents: int
    # Names the collection in requests and in settings.knowledge_bases of agents.
    id: str
    # What its documents are written in. For en, es, fr, it, de and pt words are found in all their
    # forms, else as they are written.
    language: str
    # What it is called.
    name: str
    # Into how many passages they are cut.
    passages: int
    # How many of them are found: all that were read once.
    ready: int
    # When it was renamed last, or made.
    updated_at: str


class KnowledgeBaseChange(TypedDict):
    # What it is called.
    name: str


class KnowledgeDocument(TypedDict):
    # How large it is; of an address as it was fetched last.
    bytes: int
    # When it was added.
    created_at: str
    # SHA-256 of its bytes; empty: none are known yet.
    hash: str
    # Names the document in requests.
    id: str
    # Whether it is a file or an address.
    kind: Literal["file", "url"]
    # What it was read as; empty: not known yet.
    media_type: str
    # How many pages it has; 0: its format has none.
    pages: int
    # Into how many passages it is cut. Those of the last time stay while it is read again, and when
    # that fails.
    passages: int
    # When its passages were made; null: it has none.
    read_at: str | None
    # Why it could not be read.
    reason: NotRequired[str]
    # The file's name, or the address.
    source: str
    # Whether it waits to be read, is being read, is found, or could not be read.
    state: Literal["queued", "reading", "ready", "failed"]
    # What it is called: as it was given, else the file's name, or the title of the page.
    title: str
    # When its state changed last.
    updated_at: str


class KnowledgePassage(TypedDict):
    # Its document.
    document_id: str
    # The heading that it stands under, or empty.
    heading: str
    # The first page that it is on, from 1; 0: the document has none.
    page: int
    # How well it fits, to compare passages of one search; from 1 on, which only a search by words
    # alone gives, it has all of the words.
    rank: float
    # Its file's name, or its address.
    source: str
    # What it says.
    text: str
    # The document's title.
    title: str


class KnowledgeQuestion(TypedDict):
    # How many passages at most.
    limit: NotRequired[int]
    # What is searched for; "in one place" and -not are understood.
    query: str


class LanguageEntry(TypedDict):
    # Two letters (ISO 639-1).
    code: str
    # In English.
    name: str
    # Whether this server can also recognise it.
    recognition: bool


class LanguageList(TypedDict):
    # All of them.
    languages: list[LanguageEntry]


class LatencyGroup(TypedDict):
    # How many had turns.
    calls: int
    # From the caller's last word to the decision that they have finished.
    endpoint_ms: Percentiles
    # The day, the hour in which it begins, or the agent; null: conversations of no agent of the
    # account.
    key: str | None
    # The wait for the model after that, until its first words.
    model_ms: Percentiles
    # From the last word to the first audio.
    total_ms: Percentiles
    # How many they had.
    turns: int
    # The wait after them, for the rest of the first sentence and the first audio.
    voice_ms: Percentiles


LatencyList = TypedDict(
    "LatencyList",
    {
        # The groups that have turns, the oldest first.
        "data": "list[LatencyGroup]",
        # Not before this.
        "from": "str",
        # As it was asked for.
        "group_by": "Literal[\"day\", \"hour\", \"agent\"]",
        # Whether the list goes on.
        "has_more": "bool",
        # Send it as cursor to read on; null at the end.
        "next_cursor": "str | None",
        # Before this.
        "to": "str",
        # All turns together, of all pages; absent: there are none.
        "total": "NotRequired[LatencyGroup]",
    },
)


class Limits(TypedDict):
    # Channels of synthesised audio.
    channels: int
    # Whether uploads and results may be compressed; without it they are WAV and PCM only.
    compressed_audio: bool
    # Unicode code points, in background tasks.
    max_async_text_length: int
    # The fastest pace.
    max_speed: float
    # The most denoising steps.
    max_steps: int
    # Unicode code points.
    max_text_length: int
    # The slowest pace; 1 is the voice's own.
    min_speed: float
    # The fewest denoising steps.
    min_steps: int
    # Of the audio that is sent, in Hz.
    sample_rate: int


class Line(TypedDict):
    # quantity x unit_price / unit_price_per, half a billionth of a dollar rounded up.
    amount: float
    # What was used.
    component: str
    # The version of the rate card that the price is of.
    price_version: str
    # In units, begun ones counted.
    quantity: int
    # What the quantity counts.
    unit: Literal["second", "minute", "token", "character", "event", "segment"]
    # What the rate card says.
    unit_price: float
    # How many units that buys.
    unit_price_per: int


class ListAPIKey(TypedDict):
    # The page's entries.
    data: list[APIKey]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListAccount(TypedDict):
    # The page's entries.
    data: list[Account]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListAccountEvent(TypedDict):
    # The page's entries.
    data: list[AccountEvent]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListAccountSecret(TypedDict):
    # The page's entries.
    data: list[AccountSecret]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListAgentDefinition(TypedDict):
    # The page's entries.
    data: list[AgentDefinition]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListCallSummary(TypedDict):
    # The page's entries.
    data: list[CallSummary]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListCase(TypedDict):
    # The page's entries.
    data: list[Case]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListConsent(TypedDict):
    # The page's entries.
    data: list[Consent]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListDelivery(TypedDict):
    # The page's entries.
    data: list[Delivery]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListDoNotCall(TypedDict):
    # The page's entries.
    data: list[DoNotCall]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListEngineKey(TypedDict):
    # The page's entries.
    data: list[EngineKey]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListEntry(TypedDict):
    # The page's entries.
    data: list[Entry]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListInvitation(TypedDict):
    # The page's entries.
    data: list[Invitation]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListKnowledgeBase(TypedDict):
    # The page's entries.
    data: list[KnowledgeBase]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListKnowledgeDocument(TypedDict):
    # The page's entries.
    data: list[KnowledgeDocument]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListMember(TypedDict):
    # The page's entries.
    data: list[Member]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListMessage(TypedDict):
    # The page's entries.
    data: list[Message]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListOutputBody(TypedDict):
    # The account's numbers.
    numbers: list[Number]


class ListRequestSummary(TypedDict):
    # The page's entries.
    data: list[RequestSummary]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListSimulation(TypedDict):
    # The page's entries.
    data: list[Simulation]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListSound(TypedDict):
    # The page's entries.
    data: list[Sound]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListSpendingLimit(TypedDict):
    # The page's entries.
    data: list[SpendingLimit]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListTopUp(TypedDict):
    # The page's entries.
    data: list[TopUp]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListTrunk(TypedDict):
    # The page's entries.
    data: list[Trunk]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListTrunkPreset(TypedDict):
    # The page's entries.
    data: list[TrunkPreset]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListUser(TypedDict):
    # The page's entries.
    data: list[User]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class ListWebhook(TypedDict):
    # The page's entries.
    data: list[Webhook]
    # Whether the list goes on.
    has_more: bool
    # Send it as cursor to read on; null at the end.
    next_cursor: str | None


class Member(TypedDict):
    # When they joined.
    created_at: str
    # With which they sign in.
    email: str
    # Whether they may listen in on calls.
    listen: bool
    # Owners also invite and remove members.
    role: Literal["owner", "member"]
    # When they signed in last, to whichever account; null: never.
    signed_in_at: str | None
    # Whether they may speak in calls, too.
    speak: bool
    # Names them in requests.
    user_id: str


class MemberChangeBody(TypedDict):
    # Whether they may listen in on calls; absent: it stays. Who may not listen may not speak.
    listen: NotRequired[bool]
    # What they are from now on; absent: it stays.
    role: NotRequired[Literal["owner", "member"]]
    # Whether they may listen in on calls and speak in them; absent: it stays.
    speak: NotRequired[bool]


Message = TypedDict(
    "Message",
    {
        # The agent that sent it; null: none did.
        "agent_id": "str | None",
        # The call in which the agent sent it; else null.
        "call_id": "str | None",
        # What it cost. One that goes out is charged once the carrier has it, delivered or not;
        # until then its price is held.
        "cost": "float",
        # When it was asked for, or came in.
        "created_at": "str",
        # When its text was deleted; null: it is there.
        "deleted_at": "str | None",
        # Which way it goes.
        "direction": "Literal[\"inbound\", \"outbound\"]",
        # The GSM alphabet, or UCS-2 where a character is not in it.
        "encoding": "Literal[\"gsm7\", \"ucs2\"]",
        # When it was delivered, has failed or came in; null: neither.
        "ended_at": "str | None",
        # Who sends it; of one that came in perhaps a name.
        "from": "str",
        # Younger ones sort later.
        "id": "str",
        # Why it has failed, for people; else null.
        "reason": "str | None",
        # How many segments it is charged for.
        "segments": "int",
        # When the carrier took it, or had it; null: it has not.
        "sent_at": "str | None",
        # queued: the carrier does not have it yet; sent: it does, and some networks never tell
        # more; delivered; failed; or received, of one that came in.
        "status": "Literal[\"queued\", \"sent\", \"delivered\", \"failed\", \"received\"]",
        # What it says; null once it was deleted.
        "text": "str | None",
        # Whom it is for.
        "to": "str",
    },
)


class Minted(TypedDict):
    # Whole seconds until it expires.
    expires_in: int
    # The credential: letters, digits, _ and - only.
    ticket: str


class MintedForAgent(TypedDict):
    # The agent that it opens.
    agent_id: str
    # Whole seconds until it expires.
    expires_in: int
    # What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance
    # and limits of spending.
    max_cost: NotRequired[float]
    # How long each may last; absent when only the agent's settings bound it.
    max_duration_seconds: NotRequired[int]
    # How many conversations it may start.
    max_sessions: int
    # The credential: letters, digits, _ and - only.
    ticket: str


class MintedScoped(TypedDict):
    # Whole seconds until it expires.
    expires_in: int
    # The groups of routes that it opens; absent: all that tickets open.
    scope: NotRequired[list[str] | None]
    # The credential: letters, digits, _ and - only.
    ticket: str


class Mistake(TypedDict):
    # The field, such as settings.speed or tools[0].http.url; body when it is the document as a
    # whole.
    path: str
    # What is wrong with it, and what is allowed.
    problem: str


class ModelEntry(TypedDict):
    # Whether it is the first choice of its kind.
    default: bool
    # What it is.
    description: str
    # Speaks, recognises, answers, or does all three.
    kind: Literal["tts", "stt", "llm", "realtime"]
    # What the engine is called.
    name: str
    # JSON Schema of the options that an agent may give it; absent: it has none.
    options: NotRequired[Any]
    # It follows rules; there is no model behind it.
    scripted: bool
    # Accounts may set keys of their own for it; absent: it takes none.
    takes_keys: NotRequired[bool]
    # It was tried against a fake of its vendor only; absent: against the real one, or it has none.
    unproven: NotRequired[bool]
    # Whose it is; openai also of other servers that speak its dialect. Absent: it comes along with
    # this server and works offline.
    vendor: NotRequired[str]


class ModelList(TypedDict):
    # All of them.
    models: list[ModelEntry]


class NewAccount(TypedDict):
    # Whether the answer holds a key of the account.
    create_key: NotRequired[bool]
    # For people, 200 bytes at most.
    name: str


class NewAgent(TypedDict):
    # What it says first; empty: it waits for the caller.
    first_message: NotRequired[str]
    # What it speaks and hears: en es ca gl eu pt fr it de, or auto, which is the caller's; at first
    # en.
    language: NotRequired[str]
    # Values that take the place of those of the same names; null takes a name away, and names that
    # are absent stay.
    metadata: NotRequired[dict[str, str | None]]
    # For people, 200 bytes at most.
    name: str
    # Who the agent is and what it knows, 100,000 bytes at most.
    prompt: NotRequired[str]
    settings: NotRequired[AgentSettings]
    tools: NotRequired[AgentTools]
    # F1 to F5 or M1 to M5; at first F1.
    voice: NotRequired[str]


NewBatch = TypedDict(
    "NewBatch",
    {
        # The agent that speaks; needed unless every row has one.
        "agent_id": "NotRequired[str]",
        # The time of day in which people are called; without it, that of the account, or any.
        "call_window": "NotRequired[CallWindow]",
        # true: all callees have agreed to be called. Nothing else is accepted.
        "consent_confirmed": "Any",
        # A number of the account, or local: for each row the one that looks nearest to the
        # callee's. Needed unless every row has one.
        "from": "NotRequired[str]",
        # How long each call may last; the agent's own limit counts too.
        "max_duration_seconds": "NotRequired[int]",
        # What is said to a machine; needed with on_machine message, and only there.
        "message": "NotRequired[str]",
        "metadata": "NotRequired[Metadata]",
        # For people.
        "name": "NotRequired[str]",
        # What a machine that answers gets, as with a single call.
        "on_machine": "NotRequired[Literal[\"continue\", \"hangup\", \"message\"]]",
        # The retry rules, one for each outcome. Without them each number is called once. A retry is
        # a row of its own.
        "retries": "NotRequired[list[Retry] | None]",
        # How long each may ring.
        "ring_timeout_seconds": "NotRequired[int]",
        # Whom to call.
        "rows": "list[NewRow]",
    },
)


NewCall = TypedDict(
    "NewCall",
    {
        # The agent that speaks.
        "agent_id": "str",
        # true: the callee has agreed to be called. Nothing else is accepted.
        "consent_confirmed": "Any",
        # A number of the account; or local, the one that looks nearest to the callee's: the one
        # that begins like it for longest.
        "from": "str",
        "headers": "NotRequired[CallHeaders]",
        # How long the call may last; the agent's own limit counts too.
        "max_duration_seconds": "NotRequired[int]",
        # What is said to a machine, in the agent's voice; needed with on_machine message, and only
        # there.
        "message": "NotRequired[str]",
        "metadata": "NotRequired[Metadata]",
        # What a machine that answers gets: the agent, as a person does (continue); nothing, the
        # call ends (hangup); or the message after its tone (message). With the last two the agent
        # keeps silent until it is known who answered, at most four seconds; a person who says hello
        # waits one. An assistant that screens calls hears the agent's first message. Without it: as
        # the agent's settings say.
        "on_machine": "NotRequired[Literal[\"continue\", \"hangup\", \"message\"]]",
        # How long it may ring.
        "ring_timeout_seconds": "NotRequired[int]",
        # The number to call, in international format; spaces and hyphens are ignored.
        "to": "str",
        # Values of the variables that the agent's settings name; of the others their defaults
        # count. 1000 characters each.
        "variables": "NotRequired[dict[str, str]]",
    },
)


class NewComparison(TypedDict):
    # The version that it is compared with; without it the calls as they were.
    against: NotRequired[int]
    # How many of the latest recorded calls.
    calls: NotRequired[int]
    # An agent that is not stored, which is compared in place of the one that is.
    definition: NotRequired[NewAgent]
    # Whether the models answer each turn again, which is charged like simulations, or give what
    # they gave, which is free and shows turn-taking alone.
    models: NotRequired[Literal["asked", "recorded"]]
    # The version that is compared; without it, and without definition, the current one.
    version: NotRequired[int]


class NewInvitation(TypedDict):
    # Address of the person to invite.
    email: str
    # What they will be.
    role: NotRequired[Literal["owner", "member"]]


class NewKey(TypedDict):
    # Whether it may listen in on calls.
    listen: NotRequired[bool]
    # Whether it may change what is paid: automatic recharge, limits of spending.
    money: NotRequired[bool]
    # What it is for.
    name: str
    # What it may do.
    role: NotRequired[Literal["member", "owner"]]
    # Whether it may listen in on calls and speak in them.
    speak: NotRequired[bool]


class NewKnowledgeAddress(TypedDict):
    # What the document is called; without it as the page is.
    title: NotRequired[str]
    # What is fetched: https, on the public Internet, at most 20 MB; three redirects are followed.
    url: str


class NewKnowledgeBase(TypedDict):
    # What its documents are written in, such as en or pt-BR. It stays as it is.
    language: NotRequired[str]
    # What it is called.
    name: str


class NewListed(TypedDict):
    # In international format; spaces and hyphens are ignored.
    number: str
    # Why, in one line.
    reason: NotRequired[str]


NewMessage = TypedDict(
    "NewMessage",
    {
        # A number of the account that was bought here: numbers of your own trunks send none.
        "from": "str",
        # What to say, in 10 segments at most: of 153 characters of the GSM alphabet, or of 67 with
        # any other character in the text; one that fits into a single segment may have 160, or 70.
        "text": "str",
        # The number to send to, in international format; spaces and hyphens are ignored. It must be
        # one that may be called.
        "to": "str",
    },
)


NewRow = TypedDict(
    "NewRow",
    {
        # Instead of the batch's.
        "agent_id": "NotRequired[str]",
        # Instead of the batch's.
        "from": "NotRequired[str]",
        "headers": "NotRequired[CallHeaders]",
        "metadata": "NotRequired[Metadata]",
        # When to call, with its zone (RFC 3339), a year ahead at most; without it, or in the past,
        # at once.
        "scheduled_at": "NotRequired[str]",
        # The number to call, in international format; spaces and hyphens are ignored.
        "to": "str",
        # Values of the variables that the agent's settings name; of the others their defaults
        # count. 1000 characters each.
        "variables": "NotRequired[dict[str, str]]",
    },
)


class NewSessionTicket(TypedDict):
    # An agent of the account.
    agent_id: str
    # What each conversation may cost, in US dollars, whole cents; absent: no bound but the balance
    # and limits of spending.
    max_cost: NotRequired[float]
    # How long each may last; without it as long as the agent's settings say.
    max_duration_seconds: NotRequired[int]
    # How many conversations it may start.
    max_sessions: NotRequired[int]
    metadata: NotRequired[Metadata]
    # How long conversations may be started with it.
    ttl_seconds: NotRequired[int]
    # Values of the variables that the agent's settings name, for each conversation: what the page
    # sends does not change them.
    variables: NotRequired[dict[str, str]]


class NewSimulation(TypedDict):
    # The cases that are run, by their identifiers; without it all of the agent.
    cases: NotRequired[list[str] | None]
    # An agent that is not stored, which is tried in place of the one that is.
    definition: NotRequired[NewAgent]
    # How often each is run; without it as often as its script says. All runs together are 100 at
    # most.
    runs: NotRequired[int]


class NewStream(TypedDict):
    # Headers of the request that opens the socket, 32 at most. A value may hold secrets of the
    # account, as {{secret.NAME}}.
    headers: NotRequired[dict[str, str]]
    # What the message start tells your server, as customParameters.
    parameters: NotRequired[Metadata]
    # What is sent: what the person on the line says, what they hear, or both. The default is both.
    tracks: NotRequired[Literal["inbound", "outbound", "both"]]
    # Where it is sent: a wss address on the public Internet. It is noted without its path.
    url: str


class NewTicket(TypedDict):
    # How long it is good, in seconds.
    expires_in: NotRequired[int]
    # The groups of routes that it opens.
    scope: NotRequired[list[Literal["conversations", "synthesis", "recognition", "denoising", "calls", "numbers"]]]


class NewTopUp(TypedDict):
    # US dollars, whole cents. The bounds are those of the built-in rate card.
    amount: float


class NewTrunk(TypedDict):
    # Addresses and networks that its calls come from; twilio, telnyx and teams are those that these
    # carriers publish for their signalling. One belongs to the trunks of one account, unless they
    # have an inbound_username each.
    allow: NotRequired[list[str]]
    # Authorities whose certificates the targets may show over TLS, as PEM; absent: the system's.
    ca: NotRequired[str]
    # Ours, that targets are shown over TLS where they ask for one, as PEM, with those that lead to
    # its authority; absent: none. It is the trunk's own, not the server's.
    cert: NotRequired[str]
    # Calls at once, both directions; 0: no limit.
    channels: NotRequired[int]
    # Of Opus, G722, PCMU and PCMA, the best first: their order in offers, and which of an offer is
    # taken. Opus and G722 have twice the band; Opus bears losses, and takes about twice the
    # processor time of G.711. Absent: as the operator has set.
    codecs: NotRequired[list[str]]
    # Stands in Contact in place of this server's address: a name that leads to it, as Microsoft
    # Teams wants it.
    contact_host: NotRequired[str]
    # Where numbers without a country code come from, an ISO 3166 code: on a trunk in DE 0341 112233
    # is +49341112233.
    country: NotRequired[str]
    # Calls a second that are begun here; 0: no limit.
    cps: NotRequired[int]
    # What stands there then, such as a technical prefix.
    dial_prefix: NotRequired[str]
    # How many characters are taken off the front of called numbers that go out, in that form.
    dial_strip: NotRequired[int]
    # Show callees of transfers the caller's number, with the account's in Diversion. The other side
    # must carry calls from numbers that are not the account's.
    diversion: NotRequired[bool]
    # How keys are sent: as telephone events (RFC 4733), or as tones in the audio, for a far end
    # that agrees on events and loses them. Absent: events, where the far end takes them. They are
    # understood in either way.
    dtmf: NotRequired[Literal["events", "audio"]]
    # Called users that are no telephone numbers, and who answers them.
    extensions: NotRequired[list[TrunkExtension]]
    # Stands in From and the identity headers in place of this server's address.
    from_host: NotRequired[str]
    # Stands in From in place of the calling number.
    from_user: NotRequired[str]
    # Stand in every INVITE. Names begin with X-. They are shown to all who may read the trunk.
    headers: NotRequired[dict[str, str]]
    # The far end's, that goes with inbound_username. With stream, by what the carrier's questions
    # are checked: the auth token at Twilio, the public key at Telnyx, the signature secret at
    # Vonage. It is stored encrypted and never shown.
    inbound_password: NotRequired[str]
    # Who incoming calls must identify themselves as (407); absent: the source is enough, but for
    # websocket. The source of UDP can be forged.
    inbound_username: NotRequired[str]
    # The private key of cert, as PEM. It is stored encrypted and never shown.
    key: NotRequired[str]
    # Send INVITEs of more than 1,300 bytes over TCP.
    large_tcp: NotRequired[bool]
    # Where audio may come from: any source that is the first to send, as behind address
    # translators, or vouched: the address of the description, of signalling, or in allow. Absent:
    # any.
    media: NotRequired[Literal["any", "vouched"]]
    # Names it on pages and commands; each of the account's another.
    name: str
    # How numbers are written that go out: +49341112233, 49341112233, 0049341112233, or 0341112233
    # within the country. Absent: e164.
    number_form: NotRequired[Literal["e164", "plain", "international", "national"]]
    # Where all that goes to the targets goes first, by a Route header. Its calls may come in, too,
    # on a trunk that registers. Absent: nowhere else.
    outbound_proxy: NotRequired[TrunkTarget]
    # Send P-Asserted-Identity.
    pai: NotRequired[bool]
    # Ours, that goes with username. It is stored encrypted and never shown.
    password: NotRequired[str]
    # Send P-Preferred-Identity.
    ppi: NotRequired[bool]
    # Whether 100rel is supported; absent: it is.
    prack: NotRequired[bool]
    # What stands there then.
    prefix: NotRequired[str]
    # A preset, whose settings count where none is sent, also when the trunk is replaced; an empty
    # list counts as not sent. Absent: none.
    preset: NotRequired[Literal["asterisk", "freeswitch", "3cx", "kamailio", "twilio", "telnyx", "vonage", "teams", "twilio-stream", "telnyx-stream", "vonage-stream", "browser-phone"]]
    # Send Privacy: id in every call.
    privacy: NotRequired[bool]
    # Whether targets are asked by OPTIONS whether they live; absent: they are. Without it they
    # count as up.
    probe: NotRequired[bool]
    # What the far end sees of this server in Via, Contact and the description of the audio, in
    # place of its address. It must lead here.
    public_ip: NotRequired[str]
    # The form of the target of a REFER; absent: sip.
    refer: NotRequired[Literal["sip", "tel"]]
    # Keep a registration at the targets. Calls may then come from these, too. Absent: no, unless
    # the preset does.
    register: NotRequired[bool]
    # Whom the certificate must be for, in place of the target.
    server_name: NotRequired[str]
    # Encryption of the audio: offered, where the far end can; required, always; dtls, always, with
    # keys by a handshake on the media's port. Absent: off, and offered where websocket is set.
    srtp: NotRequired[Literal["off", "offered", "required", "dtls"]]
    # The carrier that brings its calls over a WebSocket of its own, in place of SIP: a number
    # without a SIP trunk. It signs its questions with inbound_password. Such a trunk has no other
    # settings, and calls do not go out on it. Absent: it speaks SIP.
    stream: NotRequired[Literal["twilio", "telnyx", "vonage"]]
    # How many characters are taken off the front of called numbers that come in.
    strip: NotRequired[int]
    # Where its calls go, the preferred one first; none: the trunk only brings calls.
    targets: NotRequired[list[TrunkTarget]]
    # How callers are handed over: by a second call that this server places, or by the far end,
    # which is asked to (REFER). Absent: consult.
    transfers: NotRequired[Literal["consult", "refer"]]
    # Whether P-Asserted-Identity and verstat are believed; absent: they are. False for exchanges
    # whose users write them.
    trust_identity: NotRequired[bool]
    # Mark numbers with user=phone.
    user_phone: NotRequired[bool]
    # Ours, for whatever the trunk challenges.
    username: NotRequired[str]
    # Take calls of phones that are made of a browser, over SIP over WebSockets (RFC 7118) at
    # /ws/sip, wherever they are. They identify themselves as inbound_username. Absent: no, unless
    # the preset does.
    websocket: NotRequired[bool]


class NewTrunkNumber(TypedDict):
    # Who answers; absent: nobody yet.
    agent_id: NotRequired[str]
    # In international format.
    phone_number: str


class NewWebhook(TypedDict):
    # What it is for.
    description: NotRequired[str]
    # The types of events that it wants; none: all, including future ones.
    events: NotRequired[list[str]]
    # A program takes its events, and nothing is sent to the address, which may then be one of your
    # own machine. Such a webhook is deleted when no program has asked for an hour.
    listen: NotRequired[bool]
    # Where events are sent: https, on the public Internet. It is shown in lists: a key in it is no
    # secret to holders of the account's keys.
    url: str


class Node(TypedDict):
    # HOST:PORT at which other nodes and operators reach it; empty: it has not said that yet.
    address: str
    # In progress.
    calls: int
    # When it was heard last; one that lives is heard every 2 s.
    heartbeat_at: str
    # Its PARLEY_NODE.
    name: str
    # When a silent one was heard last; null: it lives.
    silent_since: str | None
    # When it was started.
    started_at: str
    # draining: it takes nothing new. silent: it has not been heard for 15 s, so the others have
    # taken it for dead.
    state: Literal["serving", "draining", "silent"]
    # Of its program; empty: it has not said that yet.
    version: str


class NodeList(TypedDict):
    # By name.
    data: list[Node]


class Number(TypedDict):
    # Who answers; null: nobody.
    agent_id: str | None
    # The name of the agent.
    agent_name: str | None
    # How many calls the account places from it in an hour; absent: as many as it likes.
    calls_per_hour: NotRequired[int]
    # ISO code; prices its calls.
    country_code: str
    # Names the number in paths.
    id: str
    # What a month of it costs now. 0: it was given by the operator and costs nothing.
    monthly_price: float
    # When the next month begins, or the unpaid one began; null when nothing will be charged.
    next_charge_at: str | None
    # In international format.
    phone_number: str
    # When it was bought or given.
    purchased_at: str
    # Only when it is past_due: when it is lost.
    release_at: NotRequired[str]
    # pending: the carrier has not activated it yet. past_due: a month is unpaid; it works, and is
    # lost at release_at.
    status: Literal["active", "pending", "past_due"]
    # The trunk of the account that brings and carries its calls; absent: the operator's lines do.
    trunk_id: NotRequired[str]
    # The webhook that is asked about each call, while it rings; absent: none is.
    webhook_id: NotRequired[str]


class NumberRules(TypedDict):
    """How calls to a number are routed. Without any rule its agent answers all of them."""

    # Where calls go outside the opening hours. It is needed with a schedule or holidays. One of
    # agent, number and message.
    closed: NotRequired[NumberRulesClosed]
    # What agents say first in calls of this number; their own first message, where they speak its
    # language.
    first_message: NotRequired[str]
    # Days whose hours differ from those of the week.
    holidays: NotRequired[list[NumberRulesHolidaysItem]]
    # The language that agents speak in calls of this number, first when they follow their caller,
    # such as en; their own.
    language: NotRequired[str]
    # What callers are asked in the opening hours, before anybody answers.
    menu: NotRequired[NumberRulesMenu]
    # Where calls go in the opening hours; to the number's own agent. One of agent, number and
    # message.
    open: NotRequired[NumberRulesOpen]
    # Where calls go in the opening hours when they cannot be taken: all lines of the account are
    # busy, its balance is too low, or the agent cannot be reached.
    overflow: NotRequired[NumberRulesOverflow]
    # The opening hours of each day of the week, closed where there are none. Without a schedule it
    # is always open.
    schedule: NotRequired[NumberRulesSchedule]
    # The time zone of hours and dates, such as Europe/Madrid; UTC.
    time_zone: NotRequired[str]


class NumberRulesClosed(TypedDict):
    """Where calls go outside the opening hours. It is needed with a schedule or holidays. One of

    agent, number and message.
    """

    # An agent of the account, ag_…, that answers.
    agent: NotRequired[str]
    # What is said before the call ends.
    message: NotRequired[str]
    # A telephone number that the call is forwarded to, in international format. It must be one that
    # may be called.
    number: NotRequired[str]


class NumberRulesHolidaysItem(TypedDict):
    # The day, as 2026-12-25.
    date: str
    # The hours of the day; none: closed.
    hours: NotRequired[list[str]]
    # What day it is.
    name: NotRequired[str]


class NumberRulesMenu(TypedDict):
    """What callers are asked in the opening hours, before anybody answers."""

    # What each key leads to.
    options: list[NumberRulesMenuOptionsItem]
    # Where the call goes without such a key; as in the opening hours without a menu. One of agent,
    # number and message.
    otherwise: NotRequired[NumberRulesMenuOtherwise]
    # What is said to the caller: which key does what.
    prompt: str
    # How often the prompt is said again when no key of the menu was pressed; 1.
    repeats: NotRequired[int]
    # How long a key may take after the prompt; 5.
    timeout_seconds: NotRequired[int]


class NumberRulesMenuOptionsItem(TypedDict):
    # An agent of the account, ag_…, that answers.
    agent: NotRequired[str]
    # The key.
    key: Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "#"]
    # What is said before the call ends.
    message: NotRequired[str]
    # What the option is for.
    name: NotRequired[str]
    # A telephone number that the call is forwarded to, in international format. It must be one that
    # may be called.
    number: NotRequired[str]


class NumberRulesMenuOtherwise(TypedDict):
    """Where the call goes without such a key; as in the opening hours without a menu. One of agent,

    number and message.
    """

    # An agent of the account, ag_…, that answers.
    agent: NotRequired[str]
    # What is said before the call ends.
    message: NotRequired[str]
    # A telephone number that the call is forwarded to, in international format. It must be one that
    # may be called.
    number: NotRequired[str]


class NumberRulesOpen(TypedDict):
    """Where calls go in the opening hours; to the number's own agent. One of agent, number and

    message.
    """

    # An agent of the account, ag_…, that answers.
    agent: NotRequired[str]
    # What is said before the call ends.
    message: NotRequired[str]
    # A telephone number that the call is forwarded to, in international format. It must be one that
    # may be called.
    number: NotRequired[str]


class NumberRulesOverflow(TypedDict):
    """Where calls go in the opening hours when they cannot be taken: all lines of the account are

    busy, its balance is too low, or the agent cannot be reached.
    """

    # A telephone number that the call is forwarded to, in international format. It must be one that
    # may be called.
    number: str


class NumberRulesSchedule(TypedDict):
    """The opening hours of each day of the week, closed where there are none. Without a schedule it is

    always open.
    """

    # The hours of each Friday.
    friday: NotRequired[list[str]]
    # The hours of each Monday.
    monday: NotRequired[list[str]]
    # The hours of each Saturday.
    saturday: NotRequired[list[str]]
    # The hours of each Sunday.
    sunday: NotRequired[list[str]]
    # The hours of each Thursday.
    thursday: NotRequired[list[str]]
    # The hours of each Tuesday.
    tuesday: NotRequired[list[str]]
    # The hours of each Wednesday.
    wednesday: NotRequired[list[str]]


class Offer(TypedDict):
    # ISO code: GB for those found under UK.
    country_code: str
    # Capabilities of the number, in the carrier's words.
    features: list[str]
    # Likewise.
    locality: str
    # What the carrier asks a month, which is not what is charged.
    monthly_cost: float
    # There are only local ones.
    number_type: Literal["local"]
    # Send exactly this to buy it.
    phone_number: str
    # As the carrier names it; may be empty.
    region: str
    # What the carrier asks once, likewise.
    upfront_cost: float


class OutcomeFigures(TypedDict):
    # How many.
    calls: int
    # Why they ended.
    end_reason: Literal["completed", "user_hangup", "agent_hangup", "api_hangup", "no_answer", "busy", "rejected", "failed", "voicemail", "balance_exhausted", "max_duration", "unknown"]


class OwnAccount(TypedDict):
    # What the account has, sessions in progress counted. Show it rounded down to the cent.
    balance: float
    # Sessions at once.
    concurrency: Concurrency
    # How long the contents of calls are kept: transcripts, summaries, and recordings at the
    # longest; null: until somebody deletes it.
    conversation_days: int | None
    # When it was made.
    created_at: str
    # A payment is disputed: nothing starts.
    disputed: bool
    # Where warnings are mailed, such as a low balance; empty: nowhere. The operator sets it.
    email: str
    # Names the account.
    id: str
    # The key that asks; absent: a person who has signed in does.
    key: NotRequired[APIKey]
    # For people.
    name: str
    # How long recordings of calls are kept.
    recording_days: int
    # How many requests a key may make in a second, and its tickets together; four seconds' worth
    # may come at once. Null: any number.
    requests_per_second: int | None
    # The operator has suspended the account: nothing starts.
    suspended: bool


class Percentiles(TypedDict):
    # Half of the turns took no longer, in milliseconds.
    p50: int
    # Nine of ten.
    p90: int
    # 95 of a hundred.
    p95: int
    # 99 of a hundred.
    p99: int


Placed = TypedDict(
    "Placed",
    {
        # The agent that speaks.
        "agent_id": "str",
        # Names the call.
        "call_id": "str",
        # When the call began.
        "created_at": "str",
        # The number that the callee sees.
        "from": "str",
        # dialing.
        "status": "Literal[\"dialing\"]",
        # The number called, in international format.
        "to": "str",
    },
)


class PutEngineKeyRequest(TypedDict):
    # The key, as its vendor shows it.
    key: str


class Receipt(TypedDict):
    # While it lasts: what it has used and no line holds yet. Else 0.
    accrued: float
    # Null while it lasts.
    ended_at: str | None
    # Of a call that has ended: the engines that served it, by stage, in the order in which they
    # began to. Absent otherwise, and when it is not known. They do not change the price.
    engines: NotRequired[CallEngines]
    # Conversations: web, inbound, outbound; speech without one: tts, stt, denoise; text messages:
    # message_out, message_in.
    kind: Literal["web", "inbound", "outbound", "tts", "stt", "denoise", "message_out", "message_in"]
    # What it used, one component each.
    lines: list[Line]
    # When it began.
    opened_at: str
    # The rate card that was in force when it began; no other counts.
    price_version: str
    # The session that was asked for.
    session_id: str
    # When it began to cost; null: never.
    started_at: str | None
    # The sum of the lines, and of the session's entries in the ledger.
    total: float


class RechargeFailure(TypedDict):
    # When it was.
    at: str
    # The payment provider's word for it; may be empty.
    code: str
    # card_declined: three in a row disable it. authentication_required, the bank wants you to
    # confirm each charge, and no_card disable it at once. refused: the payment provider could not
    # be used. refunded: money that went back to a card left the balance below the threshold, which
    # disables it too.
    reason: Literal["card_declined", "authentication_required", "no_card", "refused", "refunded"]


class RechargeSettings(TypedDict):
    # US dollars, whole cents. The bounds are those of the built-in rate card.
    amount: NotRequired[float]
    # Whether to recharge.
    enabled: NotRequired[bool]
    # US dollars, whole cents.
    monthly_cap: NotRequired[float]
    # US dollars, whole cents.
    threshold: NotRequired[float]


class Released(TypedDict):
    # Its id, which names nothing any more.
    id: str
    # In international format.
    phone_number: str
    # Always true.
    released: Literal[True]


class Removal(TypedDict):
    # The keys that they made and that were good, the newest first; revoked_at is null of those that
    # still are.
    keys: list[APIKey]


class RequestDetail(TypedDict):
    # When it came.
    at: str
    # Its body, if that was JSON: the first 4 kB, without the values of fields that are called like
    # secrets or hold what is said; null: it had none, or another.
    body: str | None
    # Whether there was more of it.
    body_cut: bool
    # Size of its body, as far as it was read.
    bytes_in: int
    # Size of the answer's body; of a WebSocket 0.
    bytes_out: int
    # What the client called it in X-Request-Id; null: nothing.
    client_request_id: str | None
    # The error's code; null: none.
    code: str | None
    # The command that sends it again, from a shell with PARLEY_URL and PARLEY_API_KEY. What was
    # blanked or cut must be filled in.
    curl: str
    # From its beginning to the end of its answer, in milliseconds; of a WebSocket as long as it was
    # open.
    duration_ms: int
    # Names the request, as X-Request-Id of its answer does.
    id: str
    # The key that was sent, or from which the ticket was made.
    key_id: str
    # What the key is called; null: it is not there any more.
    key_name: str | None
    # Its method.
    method: str
    # The route, as this document has it.
    route: str
    # What it was answered with; 101: it became a WebSocket.
    status: int
    # Its path and query, without credentials.
    target: str
    # The ticket that was sent; null: the key itself.
    ticket_id: str | None


class RequestSummary(TypedDict):
    # When it came.
    at: str
    # Size of its body, as far as it was read.
    bytes_in: int
    # Size of the answer's body; of a WebSocket 0.
    bytes_out: int
    # What the client called it in X-Request-Id; null: nothing.
    client_request_id: str | None
    # The error's code; null: none.
    code: str | None
    # From its beginning to the end of its answer, in milliseconds; of a WebSocket as long as it was
    # open.
    duration_ms: int
    # Names the request, as X-Request-Id of its answer does.
    id: str
    # The key that was sent, or from which the ticket was made.
    key_id: str
    # What the key is called; null: it is not there any more.
    key_name: str | None
    # Its method.
    method: str
    # The route, as this document has it.
    route: str
    # What it was answered with; 101: it became a WebSocket.
    status: int
    # Its path and query, without credentials.
    target: str
    # The ticket that was sent; null: the key itself.
    ticket_id: str | None


class Retry(TypedDict):
    # How long after its end the next call is placed, in seconds; with a call_window, within it.
    after_seconds: int
    # How many calls a callee gets in all, the first and those after other outcomes included.
    attempts: int
    # How the call ended. failed: the carrier could not place it; a number that does not exist is
    # not called again.
    on: Literal["no_answer", "busy", "rejected", "voicemail", "failed"]


class Routed(TypedDict):
    # agent: an agent answers. forward: another number is called, and connected when it answers.
    # message: it is said, and the call ends. menu: the caller is asked for a key. redirect: the
    # caller's side is asked to call another number (SIP 302). refuse: nobody answers.
    action: Literal["agent", "forward", "message", "menu", "redirect", "refuse"]
    # With agent: who answers.
    agent_id: NotRequired[str]
    # When the call comes, in the time zone of the rules.
    at: str
    # With message and menu: what is said.
    message: NotRequired[str]
    # With forward and redirect: the other number.
    number: NotRequired[str]
    # The number that is called.
    number_id: str
    # Whether that is in the opening hours.
    open: bool
    # The same in international format.
    phone_number: str
    # Why, step by step, for people.
    reasons: list[str]


class RoutingTrial(TypedDict):
    # When the call comes: with an offset as in RFC 3339, or without one in the time zone of the
    # rules. Absent: now.
    at: NotRequired[str]
    # The keys that the caller presses in the menu, one each time it is asked. Absent: the decision
    # is the menu.
    keys: NotRequired[str]
    # What the call finds exhausted: all lines of the account are busy, its balance is too low, or
    # the agent cannot be reached. Absent: nothing.
    out: NotRequired[Literal["lines", "balance", "agent"]]
    rules: NotRequired[NumberRules]


class RowCheck(TypedDict):
    # When it would be called at the earliest, given a free line; null when it would not.
    due_at: str | None
    # An earlier row with the same number: it would be called twice. Null: there is none.
    duplicate_of: int | None
    # Why not.
    error: NotRequired[RowFault]
    # Whether it would be called.
    ok: bool
    # Line and agent, without the language model's tokens; null when it would not be called.
    per_minute: float | None
    # Its place, counted from 0.
    row: int
    # The number in international format; as it was sent when it is none.
    to: str


class RowError(TypedDict):
    # As the request for a single call would be refused with, or callcenter.not_placed,
    # callcenter.batch_cancelled.
    code: str
    # The same for people.
    error: str


class RowFault(TypedDict):
    # As the request for the batch would be refused with, or the call.
    code: str
    # What exactly, where there is more to say.
    detail: NotRequired[str]
    # The same for people.
    error: str


SIPMessage = TypedDict(
    "SIPMessage",
    {
        # When it was sent or received.
        "at": "str",
        # Seen from the server.
        "direction": "Literal[\"sent\", \"received\"]",
        # Address and port that it came from.
        "from": "str",
        # The whole of it, secrets masked.
        "message": "str",
        # Address and port that it went to.
        "to": "str",
        # What it came over.
        "transport": "Literal[\"UDP\", \"TCP\", \"TLS\", \"WS\"]",
    },
)


class SIPTrace(TypedDict):
    # The messages, oldest first.
    data: list[SIPMessage]
    # Older messages that were not kept.
    dropped: int


class SearchOutputBody(TypedDict):
    # Whether there is another page.
    has_more: bool
    # Those on this page.
    numbers: list[Offer]
    # As it was asked for.
    page: int
    # How many there are on a page, at most.
    page_size: int


class SecretInputBody(TypedDict):
    # Where it may be sent: names of hosts or addresses, and *.example.com for all below. Without
    # it, the secret stays bound as it is; a new one is not bound.
    hosts: NotRequired[list[str] | None]
    # One line, 8,192 bytes at most.
    value: str


class SecretWebhook(TypedDict):
    # When it was made.
    created_at: str
    # What it is for.
    description: str
    # Why it is disabled: nothing arrived for five days, it answered 410, or its owner did it.
    disabled_reason: NotRequired[Literal["failing", "gone", "asked"]]
    # Whether events are sent to it.
    enabled: bool
    # The types of events that are sent to it; none: all.
    events: list[str]
    # Nothing has arrived since; null: the last event did, or there was none.
    failing_since: str | None
    # Names the webhook in requests.
    id: str
    # When a webhook that listens is deleted, unless a program takes an event before; null: events
    # are sent to its address.
    listens_until: str | None
    # When the secret before the last rotation ceases to sign; null: there was none.
    old_secret_until: str | None
    # Signs what is sent; shown this once.
    secret: str
    # When it was changed last.
    updated_at: str
    # Where events are sent.
    url: str


class ServerReport(TypedDict):
    # Conversations in progress, on sockets and telephones; 0 without a key.
    active_calls: int
    # Requests, streams and sockets in progress, this one among them; 0 without a key.
    active_connections: int
    # Answers with a status of 500 or more since the start; 0 without a key.
    failed_requests: int
    # Things that the program does at once; 0 without a key.
    goroutines: int
    # The primary engines.
    inference: str
    # Of the heap, in use; 0 without a key.
    mem_alloc_bytes: int
    # The same as a yes or no.
    ready: bool
    # What the program was built with, and for; without a key its name alone.
    runtime: str
    # ok when conversations can start.
    status: Literal["ok", "warming_up"]
    # When this was found out.
    timestamp: str
    # Since the program started; 0 without a key.
    uptime_seconds: int
    # The version of the program; without a key that of the API.
    version: str


class ServiceHealth(TypedDict):
    # What the server needs besides its engines.
    services: ServiceParts
    # Degraded: some of it works.
    status: Literal["operational", "degraded", "down"]
    # When this was found out.
    timestamp: str
    # The version of the program; to a ticket that of the API.
    version: str


class ServiceModel(TypedDict):
    # Whether it is the first choice of its kind.
    default: bool
    # What it is.
    description: str
    # Speaks, recognises, answers, or does all three.
    kind: Literal["tts", "stt", "llm", "realtime"]
    # Codes of the languages it knows.
    languages: list[str]
    # What the engine is called.
    name: str
    # JSON Schema of the options that an agent may give it; absent: it has none.
    options: NotRequired[Any]
    # Whether it can be used now.
    ready: bool
    # Why it is not ready.
    reason: NotRequired[str]
    # Of the audio that goes in or comes out, in Hz.
    sample_rate: NotRequired[int]
    # It follows rules; there is no model behind it.
    scripted: bool
    # Accounts may set keys of their own for it; absent: it takes none.
    takes_keys: NotRequired[bool]
    # It was tried against a fake of its vendor only; absent: against the real one, or it has none.
    unproven: NotRequired[bool]
    # Whose it is; openai also of other servers that speak its dialect. Absent: it comes along with
    # this server and works offline.
    vendor: NotRequired[str]


class ServiceModels(TypedDict):
    # All of them.
    models: list[ServiceModel]


class ServiceParts(TypedDict):
    # Whether the accounts can be reached.
    database: Literal["connected", "unreachable"]
    # Of speech and language.
    engine: Literal["healthy", "unavailable"]
    # Whether results can be kept.
    storage: Literal["available", "unavailable"]


class ServiceVoice(TypedDict):
    # Its character in a word or two.
    description: str
    # How it sounds.
    gender: Literal["female", "male"]
    # The voice's name for people.
    name: str
    # What requests call the voice.
    voice_id: str


class ServiceVoices(TypedDict):
    # Identifiers by gender and by character.
    groups: dict[str, list[str] | None]
    # All of them.
    voices: list[ServiceVoice]


class SetLimitInputBody(TypedDict):
    # US dollars a day (UTC); null: no limit.
    daily_limit: float | None


class SimulatedCase(TypedDict):
    # The case, which may be changed or deleted by now.
    case_id: str
    # Of these, how often something was not as expected.
    failed: int
    # What it was called.
    name: str
    # Whether no run failed; null: it has not been run.
    ok: bool | None
    # Each run; very many are not all kept.
    results: list[SimulatedRun]
    # How often it was run.
    runs: int


class SimulatedCheck(TypedDict):
    # What is expected.
    expected: str
    # What was there instead.
    found: NotRequired[str]
    # Whether it is so.
    ok: bool
    # Of a criterion: why, as the model says.
    reason: NotRequired[str]


class SimulatedFunction(TypedDict):
    # What it was called with, JSON.
    arguments: NotRequired[str]
    # When it was called, in milliseconds of the call.
    at_ms: int
    # Its name.
    name: str


class SimulatedLine(TypedDict):
    # When it was said, in milliseconds of the call.
    at_ms: int
    # Who said it.
    role: Literal["user", "agent"]
    # The words of the line.
    text: str


class SimulatedRun(TypedDict):
    # Each expectation and criterion.
    checks: list[SimulatedCheck]
    # Whether transcript, functions and turns are left out, for the results are too long.
    cut: NotRequired[bool]
    # Why the conversation ended.
    ended: str
    # Functions that the agent called.
    functions: list[SimulatedFunction]
    # How long it was, in simulated time.
    length_ms: int
    # Whether all was as expected.
    ok: bool
    # Why it could not be played to its end.
    problem: NotRequired[str]
    # Which of the case's, from 1.
    run: int
    # The lines of the caller and the agent, in the order of time.
    transcript: list[SimulatedLine]
    # The latency of each turn.
    turns: list[SimulatedTurn]


class SimulatedTurn(TypedDict):
    # Until the caller's turn was over.
    endpoint_ms: int
    # Until the model's first sentence.
    model_ms: int
    # From the end of the caller's speech to the agent's.
    total_ms: int
    # Which, from 1.
    turn: int
    # Until its audio.
    voice_ms: int


class Simulation(TypedDict):
    # The agent that is tried.
    agent_id: str
    # Its version when the simulation was asked for.
    agent_version: int
    # Of these, those in which a run failed.
    cases_failed: int
    # Of these, those that were run.
    cases_run: int
    # Cases that it has.
    cases_total: int
    # What it has cost by now.
    cost: float
    # When it was asked for.
    created_at: str
    # Whether a definition is tried that was sent along, and not what is stored.
    draft: bool
    # When it ended; null: it has not.
    ended_at: str | None
    # Names it.
    id: str
    # Tokens that models read: the agent's, the caller's and the judge's.
    input_tokens: int
    # Whether it is done and every case passed.
    ok: bool
    # Tokens that they wrote.
    output_tokens: int
    # Why it failed, for people; null: it did not.
    reason: str | None
    # When it began; null: it waits.
    started_at: str | None
    # How far it is; it is over when it is done, failed or canceled. done says nothing about their
    # results.
    state: Literal["queued", "running", "done", "failed", "canceled"]


class SimulationDetail(TypedDict):
    # The agent that is tried.
    agent_id: str
    # Its version when the simulation was asked for.
    agent_version: int
    # Its cases, in the order in which they are run.
    cases: list[SimulatedCase]
    # Of these, those in which a run failed.
    cases_failed: int
    # Of these, those that were run.
    cases_run: int
    # Cases that it has.
    cases_total: int
    # What it has cost by now.
    cost: float
    # When it was asked for.
    created_at: str
    # Whether a definition is tried that was sent along, and not what is stored.
    draft: bool
    # When it ended; null: it has not.
    ended_at: str | None
    # Names it.
    id: str
    # Tokens that models read: the agent's, the caller's and the judge's.
    input_tokens: int
    # Whether it is done and every case passed.
    ok: bool
    # Tokens that they wrote.
    output_tokens: int
    # Why it failed, for people; null: it did not.
    reason: str | None
    # When it began; null: it waits.
    started_at: str | None
    # How far it is; it is over when it is done, failed or canceled. done says nothing about their
    # results.
    state: Literal["queued", "running", "done", "failed", "canceled"]


class Sound(TypedDict):
    # When it was added.
    created_at: str
    # How long it is until it begins again.
    duration_ms: int
    # Names the sound in requests and in settings.hold_sound of agents.
    id: str
    # What it is called.
    name: str


class SpendingLimit(TypedDict):
    # What may be charged in a day, from midnight to midnight UTC; null: there is no limit.
    daily_limit: float | None
    # What is set aside for minutes and work about to begin; it counts as spent.
    held: float
    # Whose limit it is: the account, a key or an agent.
    id: str
    # The name of it.
    name: str
    # What was charged today. Of a key or an agent it is kept while there is a limit.
    spent: float


class SpokenLine(TypedDict):
    # Seconds since the answer.
    at: float
    # Who said it.
    role: Literal["user", "agent", "supervisor"]
    # The words; of the agent's those that were heard.
    text: str


class StageLatency(TypedDict):
    # The engine, as settings of agents name it; null: several served the call, it is not known, or
    # the stage has none.
    engine: str | None
    # Half of them waited no longer, in milliseconds, within 4.5 %.
    p50_ms: int
    # 95 of a hundred, likewise.
    p95_ms: int
    # total: from the caller's last word to the first audio. endpoint: to the decision that the
    # caller has finished. asr: to the last of their words as text. llm: from that decision to the
    # model's first words. tts: from the first whole sentence to the voice's first audio.
    stage: Literal["total", "endpoint", "asr", "llm", "tts"]
    # How many turns waited.
    turns: int


Statistics = TypedDict(
    "Statistics",
    {
        # The agents that have calls, by their number, the most first: at most 100. Empty: there are
        # none, or they were not asked for.
        "by_agent": "list[AgentFigures]",
        # The days that have calls, the oldest first; empty: there are none, or they were not asked
        # for.
        "by_day": "list[DayFigures]",
        # How calls ended, the most frequent first.
        "by_outcome": "list[OutcomeFigures]",
        # The first day, UTC.
        "from": "str",
        # How long turns waited, by stage and engine.
        "stages": "list[StageLatency]",
        # The day after the last.
        "to": "str",
        # All calls together.
        "total": "CallFigures",
    },
)


class Status(TypedDict):
    # Through which carrier. simulated: its numbers reach nobody outside this server.
    carrier: str
    # Where numbers can be searched for.
    countries: list[str]
    # Whether the server has telephony.
    enabled: bool


class Stream(TypedDict):
    # The call.
    call_id: str
    # Where it is sent.
    host: str
    # Its identifier, also among the call's listeners.
    id: str
    # What is sent.
    tracks: Literal["inbound", "outbound", "both"]


class SubmitInputBody(TypedDict):
    # The same as language, which wins.
    lang: NotRequired[str]
    # One of en es ca gl eu pt fr it de; there is no default.
    language: NotRequired[str]
    # One channel, 44.1 kHz but for the names with a rate and ulaw, which is 8 kHz G.711 mu-law. pcm
    # is Int16 little endian without a header. MP3 only where the server can write it.
    output_format: NotRequired[Literal["wav", "mp3", "pcm", "ulaw", "pcm_22050", "mp3_22050", "ulaw_8000"]]
    # Pace; 1 is the voice's own.
    speed: NotRequired[float]
    # Denoising steps, where the engine has them.
    steps: NotRequired[float]
    # What to say; its length counts in Unicode code points.
    text: str


class Taken(TypedDict):
    # The next event; absent: none has come.
    event: NotRequired[TakenEvent]


class TakenAttempt(TypedDict):
    # The beginning of its body.
    answer: NotRequired[str]
    # Why there was no answer.
    error: NotRequired[str]
    # How long the answer took.
    latency_ms: NotRequired[int]
    # Of the answer; 0: there was none. From 200 to 299 the event has arrived.
    status: int


class TakenEvent(TypedDict):
    # The body of the request, as it is signed.
    body: str
    # The headers of the request, with the signature of now.
    headers: dict[str, str]
    # Names the event.
    id: str
    # What happened.
    type: str


class TargetStatus(TypedDict):
    # Why it is down, or what it last missed.
    detail: NotRequired[str]
    # Transport and address.
    target: str
    # Whether calls are sent there.
    up: bool


class Task(TypedDict):
    # Unicode code points of the text, which are what is charged.
    characters: int
    # Null until it is completed.
    completed_at: str | None
    # When it was submitted.
    created_at: str
    # Length of the audio; null until it is completed.
    duration_seconds: float | None
    # Why it failed; null when it did not.
    error: TaskError | None
    # When the result goes; null until it is completed.
    expires_at: str | None
    # What is spoken.
    language: str
    # How the audio is written.
    output_format: str
    # How much of the text is spoken, per cent; 100 when it is completed.
    progress: int
    # Status of the task; completed and failed are final.
    status: Literal["pending", "processing", "completed", "failed"]
    # Names the task in every other request.
    task_id: str
    # Who speaks.
    voice_id: str


class TaskError(TypedDict):
    """Why it failed; null when it did not."""

    # One of the codes of errors.
    code: str
    # The same for people.
    message: str


class TestData(TypedDict):
    # The webhook that is tested.
    webhook_id: str


class TopUp(TypedDict):
    # What was asked for.
    amount: float
    # Whether automatic recharge charged a saved card: there is no page.
    automatic: bool
    # When it was begun.
    created_at: str
    # It came with the demonstration: nobody paid it, and nothing of it goes back to a card. Absent:
    # it is a payment.
    demonstration: NotRequired[bool]
    # Names the top-up.
    id: str
    # What was received and added to the balance.
    paid: float
    # Of it, what went back to the card.
    refunded: float
    # When it ended; null before.
    settled_at: str | None
    # created: there is no page yet. pending: waits for the customer or the bank; a declined card
    # leaves it so. The others are ends.
    state: Literal["created", "pending", "succeeded", "failed", "canceled"]
    # Where the customer pays; empty while there is no page.
    url: str


class TranscribeBody1(TypedDict):
    # The recording.
    audio: str
    # pcm16 is Int16 little endian in one channel.
    format: NotRequired[Literal["pcm16", "wav"]]
    # en, es, pt, fr, it or de, with or without a region; without it the recogniser finds out.
    language: NotRequired[str]
    # Samples a second of pcm16; 16000 without it.
    sample_rate: NotRequired[int]


class TranscribeBody2(TypedDict):
    # WAV, MP3, AAC, Ogg, WebM, MP4, FLAC, or Int16 little endian PCM with a sample_rate. Its
    # content decides, not its name.
    audio: File
    # en, es, pt, fr, it or de, with or without a region; without it the recogniser finds out.
    language: NotRequired[str]
    # Samples a second of audio without a header.
    sample_rate: NotRequired[int]


class Transcription(TypedDict):
    # Length of the audio, which is what is charged.
    duration_seconds: float
    # The name of the recogniser.
    engine: str
    # The two-letter code of the request; empty when it was left to a recogniser of several
    # languages.
    language: str
    # From the end of the upload to the answer.
    latency_ms: int
    # Samples a second of the audio; of compressed audio the rate it was decoded to.
    sample_rate: int
    # The utterances.
    segments: list[TranscriptionSegment]
    # All that was said.
    text: str


class TranscriptionSegment(TypedDict):
    # In seconds.
    duration: float
    # Where it ends, in seconds.
    end: float
    # Where the voice begins, in seconds.
    start: float
    # The words in it.
    text: str


class Trunk(TypedDict):
    # Addresses and networks that its calls come from; twilio, telnyx and teams are those that these
    # carriers publish for their signalling. One belongs to the trunks of one account, unless they
    # have an inbound_username each.
    allow: NotRequired[list[str]]
    # Authorities whose certificates the targets may show over TLS, as PEM; absent: the system's.
    ca: NotRequired[str]
    # Ours, that targets are shown over TLS where they ask for one, as PEM, with those that lead to
    # its authority; absent: none. It is the trunk's own, not the server's.
    cert: NotRequired[str]
    # Calls at once, both directions; 0: no limit.
    channels: NotRequired[int]
    # Of Opus, G722, PCMU and PCMA, the best first: their order in offers, and which of an offer is
    # taken. Opus and G722 have twice the band; Opus bears losses, and takes about twice the
    # processor time of G.711. Absent: as the operator has set.
    codecs: NotRequired[list[str]]
    # Stands in Contact in place of this server's address: a name that leads to it, as Microsoft
    # Teams wants it.
    contact_host: NotRequired[str]
    # Where numbers without a country code come from, an ISO 3166 code: on a trunk in DE 0341 112233
    # is +49341112233.
    country: NotRequired[str]
    # Calls a second that are begun here; 0: no limit.
    cps: NotRequired[int]
    # When it was made.
    created_at: str
    # What stands there then, such as a technical prefix.
    dial_prefix: NotRequired[str]
    # How many characters are taken off the front of called numbers that go out, in that form.
    dial_strip: NotRequired[int]
    # Show callees of transfers the caller's number, with the account's in Diversion. The other side
    # must carry calls from numbers that are not the account's.
    diversion: NotRequired[bool]
    # How keys are sent: as telephone events (RFC 4733), or as tones in the audio, for a far end
    # that agrees on events and loses them. Absent: events, where the far end takes them. They are
    # understood in either way.
    dtmf: NotRequired[Literal["events", "audio"]]
    # Called users that are no telephone numbers, and who answers them.
    extensions: NotRequired[list[TrunkExtension]]
    # What to enter on the other side, step by step; only of a trunk with a preset.
    far_end: NotRequired[list[str]]
    # Stands in From and the identity headers in place of this server's address.
    from_host: NotRequired[str]
    # Stands in From in place of the calling number.
    from_user: NotRequired[str]
    # Stand in every INVITE. Names begin with X-. They are shown to all who may read the trunk.
    headers: NotRequired[dict[str, str]]
    # Names the trunk in requests.
    id: str
    # Who incoming calls must identify themselves as (407); absent: the source is enough, but for
    # websocket. The source of UDP can be forged.
    inbound_username: NotRequired[str]
    # Send INVITEs of more than 1,300 bytes over TCP.
    large_tcp: NotRequired[bool]
    # Where audio may come from: any source that is the first to send, as behind address
    # translators, or vouched: the address of the description, of signalling, or in allow. Absent:
    # any.
    media: NotRequired[Literal["any", "vouched"]]
    # As its owner calls it.
    name: str
    # How numbers are written that go out: +49341112233, 49341112233, 0049341112233, or 0341112233
    # within the country. Absent: e164.
    number_form: NotRequired[Literal["e164", "plain", "international", "national"]]
    # Where all that goes to the targets goes first, by a Route header. Its calls may come in, too,
    # on a trunk that registers. Absent: nowhere else.
    outbound_proxy: NotRequired[TrunkTarget]
    # Send P-Asserted-Identity.
    pai: NotRequired[bool]
    # Send P-Preferred-Identity.
    ppi: NotRequired[bool]
    # Whether 100rel is supported; absent: it is.
    prack: NotRequired[bool]
    # What stands there then.
    prefix: NotRequired[str]
    # A preset, whose settings count where none is sent, also when the trunk is replaced; an empty
    # list counts as not sent. Absent: none.
    preset: NotRequired[Literal["asterisk", "freeswitch", "3cx", "kamailio", "twilio", "telnyx", "vonage", "teams", "twilio-stream", "telnyx-stream", "vonage-stream", "browser-phone"]]
    # Send Privacy: id in every call.
    privacy: NotRequired[bool]
    # Whether targets are asked by OPTIONS whether they live; absent: they are. Without it they
    # count as up.
    probe: NotRequired[bool]
    # What the far end sees of this server in Via, Contact and the description of the audio, in
    # place of its address. It must lead here.
    public_ip: NotRequired[str]
    # The form of the target of a REFER; absent: sip.
    refer: NotRequired[Literal["sip", "tel"]]
    # Keep a registration at the targets. Calls may then come from these, too. Absent: no, unless
    # the preset does.
    register: NotRequired[bool]
    # Whom the certificate must be for, in place of the target.
    server_name: NotRequired[str]
    # Encryption of the audio: offered, where the far end can; required, always; dtls, always, with
    # keys by a handshake on the media's port. Absent: off, and offered where websocket is set.
    srtp: NotRequired[Literal["off", "offered", "required", "dtls"]]
    # How it does on the node that answers; absent: it does not know the trunk yet.
    status: NotRequired[TrunkStatus]
    # The carrier that brings its calls over a WebSocket of its own, in place of SIP: a number
    # without a SIP trunk. It signs its questions with inbound_password. Such a trunk has no other
    # settings, and calls do not go out on it. Absent: it speaks SIP.
    stream: NotRequired[Literal["twilio", "telnyx", "vonage"]]
    # How many characters are taken off the front of called numbers that come in.
    strip: NotRequired[int]
    # Where its calls go, the preferred one first; none: the trunk only brings calls.
    targets: NotRequired[list[TrunkTarget]]
    # How callers are handed over: by a second call that this server places, or by the far end,
    # which is asked to (REFER). Absent: consult.
    transfers: NotRequired[Literal["consult", "refer"]]
    # Whether P-Asserted-Identity and verstat are believed; absent: they are. False for exchanges
    # whose users write them.
    trust_identity: NotRequired[bool]
    # When it was changed last.
    updated_at: str
    # Mark numbers with user=phone.
    user_phone: NotRequired[bool]
    # Ours, for whatever the trunk challenges.
    username: NotRequired[str]
    # Take calls of phones that are made of a browser, over SIP over WebSockets (RFC 7118) at
    # /ws/sip, wherever they are. They identify themselves as inbound_username. Absent: no, unless
    # the preset does.
    websocket: NotRequired[bool]


class TrunkExtension(TypedDict):
    # Who answers.
    agent_id: str
    # The user of the called address. An x stands for any digit where all else is digits, and a * at
    # the end for any rest. The first that matches counts.
    match: str


class TrunkPreset(TypedDict):
    # What to enter on the other side, step by step. What only a trunk knows stands in capitals,
    # such as USERNAME.
    far_end: list[str]
    # Names it in the settings of a trunk.
    name: str
    # Settings that its owner must send besides the name.
    needs: list[str]
    # Its page of the documentation of this server.
    page: str
    # Of a trunk with it, where its owner sends none.
    settings: TrunkSettings
    # Pages of its maker that this comes from.
    sources: list[TrunkPresetSource]
    # tried: tests of this program call the real thing. documented: its maker describes it so.
    state: Literal["tried", "documented"]
    # How the two are connected, in a sentence.
    summary: str
    # Of the maker, for people.
    title: str
    # What the tests do; only of one that is tried.
    tried: NotRequired[str]


class TrunkPresetSource(TypedDict):
    # What the page is about.
    title: str
    # Where it is.
    url: str


class TrunkRegistration(TypedDict):
    # Of the last attempt.
    error: NotRequired[str]
    # Whether it is in force.
    registered: bool
    # When it ends unless it is refreshed; null: it is not in force.
    until: str | None


class TrunkSettings(TypedDict):
    # Addresses and networks that its calls come from; twilio, telnyx and teams are those that these
    # carriers publish for their signalling. One belongs to the trunks of one account, unless they
    # have an inbound_username each.
    allow: NotRequired[list[str]]
    # Authorities whose certificates the targets may show over TLS, as PEM; absent: the system's.
    ca: NotRequired[str]
    # Ours, that targets are shown over TLS where they ask for one, as PEM, with those that lead to
    # its authority; absent: none. It is the trunk's own, not the server's.
    cert: NotRequired[str]
    # Calls at once, both directions; 0: no limit.
    channels: NotRequired[int]
    # Of Opus, G722, PCMU and PCMA, the best first: their order in offers, and which of an offer is
    # taken. Opus and G722 have twice the band; Opus bears losses, and takes about twice the
    # processor time of G.711. Absent: as the operator has set.
    codecs: NotRequired[list[str]]
    # Stands in Contact in place of this server's address: a name that leads to it, as Microsoft
    # Teams wants it.
    contact_host: NotRequired[str]
    # Where numbers without a country code come from, an ISO 3166 code: on a trunk in DE 0341 112233
    # is +49341112233.
    country: NotRequired[str]
    # Calls a second that are begun here; 0: no limit.
    cps: NotRequired[int]
    # What stands there then, such as a technical prefix.
    dial_prefix: NotRequired[str]
    # How many characters are taken off the front of called numbers that go out, in that form.
    dial_strip: NotRequired[int]
    # Show callees of transfers the caller's number, with the account's in Diversion. The other side
    # must carry calls from numbers that are not the account's.
    diversion: NotRequired[bool]
    # How keys are sent: as telephone events (RFC 4733), or as tones in the audio, for a far end
    # that agrees on events and loses them. Absent: events, where the far end takes them. They are
    # understood in either way.
    dtmf: NotRequired[Literal["events", "audio"]]
    # Called users that are no telephone numbers, and who answers them.
    extensions: NotRequired[list[TrunkExtension]]
    # Stands in From and the identity headers in place of this server's address.
    from_host: NotRequired[str]
    # Stands in From in place of the calling number.
    from_user: NotRequired[str]
    # Stand in every INVITE. Names begin with X-. They are shown to all who may read the trunk.
    headers: NotRequired[dict[str, str]]
    # Who incoming calls must identify themselves as (407); absent: the source is enough, but for
    # websocket. The source of UDP can be forged.
    inbound_username: NotRequired[str]
    # Send INVITEs of more than 1,300 bytes over TCP.
    large_tcp: NotRequired[bool]
    # Where audio may come from: any source that is the first to send, as behind address
    # translators, or vouched: the address of the description, of signalling, or in allow. Absent:
    # any.
    media: NotRequired[Literal["any", "vouched"]]
    # How numbers are written that go out: +49341112233, 49341112233, 0049341112233, or 0341112233
    # within the country. Absent: e164.
    number_form: NotRequired[Literal["e164", "plain", "international", "national"]]
    # Where all that goes to the targets goes first, by a Route header. Its calls may come in, too,
    # on a trunk that registers. Absent: nowhere else.
    outbound_proxy: NotRequired[TrunkTarget]
    # Send P-Asserted-Identity.
    pai: NotRequired[bool]
    # Send P-Preferred-Identity.
    ppi: NotRequired[bool]
    # Whether 100rel is supported; absent: it is.
    prack: NotRequired[bool]
    # What stands there then.
    prefix: NotRequired[str]
    # A preset, whose settings count where none is sent, also when the trunk is replaced; an empty
    # list counts as not sent. Absent: none.
    preset: NotRequired[Literal["asterisk", "freeswitch", "3cx", "kamailio", "twilio", "telnyx", "vonage", "teams", "twilio-stream", "telnyx-stream", "vonage-stream", "browser-phone"]]
    # Send Privacy: id in every call.
    privacy: NotRequired[bool]
    # Whether targets are asked by OPTIONS whether they live; absent: they are. Without it they
    # count as up.
    probe: NotRequired[bool]
    # What the far end sees of this server in Via, Contact and the description of the audio, in
    # place of its address. It must lead here.
    public_ip: NotRequired[str]
    # The form of the target of a REFER; absent: sip.
    refer: NotRequired[Literal["sip", "tel"]]
    # Keep a registration at the targets. Calls may then come from these, too. Absent: no, unless
    # the preset does.
    register: NotRequired[bool]
    # Whom the certificate must be for, in place of the target.
    server_name: NotRequired[str]
    # Encryption of the audio: offered, where the far end can; required, always; dtls, always, with
    # keys by a handshake on the media's port. Absent: off, and offered where websocket is set.
    srtp: NotRequired[Literal["off", "offered", "required", "dtls"]]
    # The carrier that brings its calls over a WebSocket of its own, in place of SIP: a number
    # without a SIP trunk. It signs its questions with inbound_password. Such a trunk has no other
    # settings, and calls do not go out on it. Absent: it speaks SIP.
    stream: NotRequired[Literal["twilio", "telnyx", "vonage"]]
    # How many characters are taken off the front of called numbers that come in.
    strip: NotRequired[int]
    # Where its calls go, the preferred one first; none: the trunk only brings calls.
    targets: NotRequired[list[TrunkTarget]]
    # How callers are handed over: by a second call that this server places, or by the far end,
    # which is asked to (REFER). Absent: consult.
    transfers: NotRequired[Literal["consult", "refer"]]
    # Whether P-Asserted-Identity and verstat are believed; absent: they are. False for exchanges
    # whose users write them.
    trust_identity: NotRequired[bool]
    # Mark numbers with user=phone.
    user_phone: NotRequired[bool]
    # Ours, for whatever the trunk challenges.
    username: NotRequired[str]
    # Take calls of phones that are made of a browser, over SIP over WebSockets (RFC 7118) at
    # /ws/sip, wherever they are. They identify themselves as inbound_username. Absent: no, unless
    # the preset does.
    websocket: NotRequired[bool]


class TrunkStatus(TypedDict):
    # On it now, both directions.
    calls: int
    # Why it does not work, or not wholly.
    error: NotRequired[str]
    # Only of a trunk that registers.
    registration: NotRequired[TrunkRegistration]
    # Its servers, as their names were found, in the order in which they are tried.
    targets: list[TargetStatus]


class TrunkTarget(TypedDict):
    # Its name or address, on the public Internet unless the operator allows another.
    host: str
    # 0 or absent: the name's SRV records, and else the transport's usual one.
    port: NotRequired[int]
    # Absent: udp.
    transport: NotRequired[Literal["udp", "tcp", "tls"]]


class TurnSide(TypedDict):
    # When the caller was taken to be done, from the beginning of the call.
    at_ms: int
    # The functions that were called.
    functions: list[str]
    # What the caller said.
    heard: str
    # The caller interrupted the agent.
    interrupted: bool
    # From the end of the caller's speech to the first sound of the answer; null: there was none.
    latency_ms: int | None
    # What the agent said, as far as it was heard.
    said: str
    # From 1; 0 is what is before the caller's first turn.
    turn: int


class Usage(TypedDict):
    # The sum of its components.
    amount: float
    # What was used.
    components: list[Used]
    # The day, agent, session or component; null: sessions of no agent of the account, and months of
    # numbers, which belong to no agent and no call.
    key: str | None


UsageList = TypedDict(
    "UsageList",
    {
        # What sessions in progress have used and no group holds yet, whatever the range.
        "accrued": "float",
        # The page's entries.
        "data": "list[Usage]",
        # Null: since the account was made.
        "from": "str | None",
        # As it was asked for.
        "group_by": "Literal[\"day\", \"agent\", \"call\", \"component\"]",
        # Whether the list goes on.
        "has_more": "bool",
        # Send it as cursor to read on; null at the end.
        "next_cursor": "str | None",
        # Null: until now.
        "to": "str | None",
        # The sum of all groups, of other pages too; on the first page only, else null.
        "total": "float | None",
    },
)


class Used(TypedDict):
    # What it cost.
    amount: float
    # What was used.
    component: str
    # In units; below zero when more was given back than was used.
    quantity: int
    # What the quantity counts.
    unit: Literal["second", "minute", "token", "character", "event", "segment", "month"]


class User(TypedDict):
    # When they were made.
    created_at: str
    # Since when they may not sign in; null: they may.
    disabled_at: str | None
    # With which they sign in.
    email: str
    # Names them in requests.
    id: str
    # An operator looks after all accounts, a member has only their own.
    role: Literal["operator", "member"]
    # When they signed in last; null: never.
    signed_in_at: str | None


class UserChangeBody(TypedDict):
    # Whether they may not sign in.
    disabled: NotRequired[bool]
    # member takes an operator's role away.
    role: NotRequired[Literal["member"]]


class VoiceEntry(TypedDict):
    # Its character in a word or two.
    description: str
    # How it sounds.
    gender: Literal["female", "male"]
    # What requests name.
    id: str
    # Codes of the languages it speaks.
    languages: list[str]
    # The voice's name for people.
    name: str


class VoiceList(TypedDict):
    # All of them.
    voices: list[VoiceEntry]


class Warning(TypedDict):
    # The figures; which are there depends on the kind.
    data: EventFigures
    # account.suspended, dispute.opened, balance.exhausted (nothing starts), balance.low,
    # spending.limit (until midnight UTC), recharge.failed, number.past_due, number.released (for a
    # week) or bonus.expiring (within a week); there may be more kinds.
    kind: str
    # The same for people.
    message: str
    # When it was noticed; null where that is not known.
    since: str | None


class Waveform(TypedDict):
    # The right side, what the caller heard, in as many parts.
    agent: list[int]
    # The left side: the loudest of each part, 0 to 255, which is full scale.
    caller: list[int]
    # Of the recording, in seconds.
    duration: float


class Webhook(TypedDict):
    # When it was made.
    created_at: str
    # What it is for.
    description: str
    # Why it is disabled: nothing arrived for five days, it answered 410, or its owner did it.
    disabled_reason: NotRequired[Literal["failing", "gone", "asked"]]
    # Whether events are sent to it.
    enabled: bool
    # The types of events that are sent to it; none: all.
    events: list[str]
    # Nothing has arrived since; null: the last event did, or there was none.
    failing_since: str | None
    # Names the webhook in requests.
    id: str
    # When a webhook that listens is deleted, unless a program takes an event before; null: events
    # are sent to its address.
    listens_until: str | None
    # When the secret before the last rotation ceases to sign; null: there was none.
    old_secret_until: str | None
    # When it was changed last.
    updated_at: str
    # Where events are sent.
    url: str

# Functions that the agent may call. Those of type `function`, in OpenAI's form, are run by the
# client of the conversation; the others by this server, on the telephone too.
AgentTools: TypeAlias = list[AgentToolsItem]

# Headers of the call's INVITE that programs of either side use: X- headers, and User-to-User (RFC
# 7433), as text where that can be read; 20 of 512 bytes each, 4096 in all. Of a call that comes in
# they are what the far end wrote: nobody vouches for them. They are deleted with the transcript.
CallHeaders: TypeAlias = dict[str, str]

# Names and values of your own, such as the number of an order: 50 names of 1 to 40 letters, digits,
# _, . and -, and 500 characters each.
Metadata: TypeAlias = dict[str, str]
