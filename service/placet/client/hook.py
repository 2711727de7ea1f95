"""The hook around the tools of an agent: a tool runs once somebody has approved the very call, and once only.

:class:`Hook` is for asyncio, :class:`SyncHook` for threads. The laws of both:

1. The input that is asked about is the effective one, after defaults, read back from its canonical JSON; that
   same JSON is what is consumed with and what runs. An approver's edit takes its place, once the tool's own
   gate has judged it too.
2. A question is the same for the same run and call id, after a restart too. Without a call id each is new.
3. The token is proven offline, against keys that are cached, before it is spent; consuming decides.
4. An execution id is drawn for one attempt, and sent again only where an answer of that attempt got lost.
   That it was spent before (``replayed``) starts nothing.
5. A grant that is spent, and of whose execution nobody has said how it ended, is *unknown*: nothing runs, and
   a person has to look. Tools that are declared idempotent, have a journal and an id for the call run again:
   they have one execution id for the call, written down before it is spent, and get it as their key. While
   it runs in this process (:mod:`placet.client.running`) it is not unknown, and nothing runs beside it.
6. Whatever is unclear is a refusal. What is raised can be shown to a model
   (:mod:`placet.client.refusals`); what the tool itself raises is the tool's.
7. The outcome is reported on the side. That this fails hides neither a result nor a failure.
"""

from placet.client.decorating import Turn, during
from placet.client.handles import Handle
from placet.client.hook_async import Grant, Hook
from placet.client.hook_sync import SyncGrant, SyncHook
from placet.client.journal import FileJournal, Journal
from placet.client.refusals import (
    ApprovalEdited,
    ApprovalPending,
    ApprovalRefused,
    ExecutionUnknown,
    HookRefusal,
)

__all__ = [
    "ApprovalEdited",
    "ApprovalPending",
    "ApprovalRefused",
    "ExecutionUnknown",
    "FileJournal",
    "Grant",
    "Handle",
    "Hook",
    "HookRefusal",
    "Journal",
    "SyncGrant",
    "SyncHook",
    "Turn",
    "during",
]
