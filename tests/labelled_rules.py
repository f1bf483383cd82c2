"""Sentences as people type them into a coding chat, by hand: those that set a rule, and those that only look so.

Most of the others were chosen because they hold the very words of rules.
"""

from __future__ import annotations

RULES = """
No mocks in integration tests, please.
New columns go to the end, never in between.
You may not change the signature of parse().
Don't ever force push.
we want all errors as JSON
Only ASCII in identifiers.
Every public function must have a docstring.
Do not use any external service in tests.
keep line length below 100
I want you to ask before you delete anything
stay out of the generated folder
Make sure that nothing is logged twice.
the CLI must stay compatible with 1.x
prefer dataclasses over dicts
No emojis in output.
use sqlite for now, never postgres in tests
Please always run black on changed files.
The token may never appear in a log.
dates are always ISO 8601, UTC
do not touch ci.yml
Leave the public names as they are.
We support only Linux.
It is forbidden to import from internal.
Comments in English only.
never use print for logging
answers in at most three sentences from now on
going forward all PRs need a changelog entry
avoid abbreviations in names
always squash
must work offline
Don't touch the migrations folder.
please don't rename public functions
Never commit directly to main.
You must never log card numbers.
Always run the linter before you hand over a change.
Use tabs, not spaces.
use pnpm instead of npm
From now on answer in English only.
Keep the public API backwards compatible.
Make sure every new endpoint has a test.
and no new dependencies please
No global state anywhere.
All timestamps must be UTC.
Amounts must be integers in cents.
The service has to run on Python 3.8.
We never use floats for money.
we don't allow raw SQL outside of repository.py
I don't want any comments in the generated code.
Only touch files below src/billing.
Stick to the standard library.
Avoid recursion in the parser, inputs can be deep.
config.legacy.yml is off-limits.
The old endpoint stays as it is until the app is updated.
Leave the vendor directory alone.
nobody else may write to that table
No edits until I say so.
Ask me first, nothing goes to production without my ok.
Going forward, write commit messages in the imperative.
for the rest of this session use the staging database
you shouldn't change the wire format, old clients depend on it
Prefer composition over inheritance.
I'd rather have explicit loops than clever comprehensions.
ensure that the retry count never exceeds 5
Under no circumstances print the token.
Remember that the box has only 512 MB.
Every query must use bound parameters.
ok but don't add logging there, it is a hot path
The exporter may not block the event loop.
Response bodies shall not contain stack traces.
hands off the generated protobuf files
Don't forget to update the changelog with each change.
We always name test files test_<module>.py.
Could you please always show the full diff?
tests must pass on Windows too
Write plain ES modules, never CommonJS.
use only the logging module, no print
the schema is frozen until the audit is over
whenever you add a setting, document it in docs/settings.md
the header must come first, the checksum last
Error codes must not change.
important: keep the order of the columns
As a rule we cap retries at three.
no default exports
Please follow our naming scheme for metrics.
Strings shown to users must be translated, no exceptions.
Ab jetzt bitte nur noch deutsche Kommentare.
Ändere die Datenbank nicht ohne Rückfrage.
Bitte keine neuen Abhängigkeiten.
Verwende tabs statt Leerzeichen.
Beträge dürfen nie als Float gespeichert werden.
Achte darauf, dass alle Tests grün bleiben.
Die alte Schnittstelle muss erhalten bleiben, sie muss stabil sein.
Lösch niemals Zeilen aus der Tabelle buchungen.
Ne touche pas aux migrations.
N'utilise jamais de flottants pour les montants.
À partir de maintenant, écris les messages en français.
Utilise des tabulations au lieu d'espaces.
Il faut que tous les tests passent.
Assure-toi que l'API reste compatible.
No cambies la interfaz pública.
Nunca guardes contraseñas en texto plano.
A partir de ahora usa pnpm en lugar de npm.
Siempre escribe pruebas para cada función nueva.
Hay que mantener la compatibilidad con Node 18.
不要修改数据库结构。
所有金额必须使用整数分。
从现在开始请用中文回答。
使用 pnpm 而不是 npm。
禁止在日志中输出密码。
公開APIは変更しないでください。
必ずテストを書いてください。
今後はTypeScriptのみ使用してください。
floatではなくDecimalを使ってください。
""".strip().splitlines()

OTHERS = """
keep both tests for comparison?
we never found out why
it never worked on windows
the parser never sees that line
must I restart it?
I always forget the syntax of that
what always breaks is the import
no tests fail now
no new warnings, nice
no idea what it does
don't you have it in the log
doesn't matter
they should always be sorted, are they?
use the other one instead
you may want to look at store.py
may I ask why
Should it never be empty?
I never said that
make it faster
make sure it works and commit
only if you think it helps
prefer which one?
from now on it works
the rule is in the readme
the limit must be read from the config
it has to run twice to fail
there must be another way
avoidable
remember when this worked?
the field must not be null, says postgres
please continue
please fix the test
next: the importer
the header is mandatory in http 1.1
it's forbidden by the browser
always? really?
nobody should see that page but they do
stick with it
that stays open for now
without the flag it works
can't use that on windows
you can't use it on windows
we use ruff instead of flake8
I want a dict
nothing must be changed there I think
no change in the output
no response from the server
the ones that use it get no answer
no more time today, let's stop
No file there, I looked.
it keeps failing
The server must restart after that, right
ok, keep it
always the same story
always returns None for me
I keep getting this error
Never had that before.
never seen this one
Stop.
stop the server and run it again
avoid what?
Only the second test fails.
only two left
use it
use the second one then
The test uses a mock instead of the real thing.
it used pip instead of uv, strange
prefer not to say
we prefer it that way?
make sure?
Ensure is a strange name for it
in the future we might need it
going forward is slow
The docs are mandatory reading I guess
this file is read-only, why
it stays under 5 seconds now
I want to understand this first
we want a report by customer
I want it to be faster
we use floats there
we do that already
the must-have is the report
You can't use it there?
you must have changed something
that must not have worked
has to be something else
it needs to be faster
without asking me it changed the file
every time I run it it crashes
whenever I open it, it hangs
Each customer has a limit.
there should be no new errors now
no new tests were added
no global variable is called that
no other file uses it
I don't do Java
I don't accept that explanation
the cache should always be warm by then
we always run into this
The user can never reach that page, I think
note that the test is slow
remember the old layout?
Remember to be patient with me :)
leave it
follow the link
follow the stack trace down to the parser
from here on it gets weird
keep in mind I'm new to this
hands off was a great film
respect
I rather like it
I don't know why this fails.
Don't worry about it, I'll fix that myself.
don't you think that's too slow?
It doesn't work on my machine.
The job is never picked up by the worker.
it always fails on the second run
That must be a race condition.
It must have been the cache.
must be the firewall then
I must say that looks good.
Why must we call flush twice?
Do we always have to restart after that?
Should I never use eval?
never mind, found it
keep going
Keep me posted.
no idea
No problem, take your time.
no errors in the log since yesterday
no, the other one
No tests ran?
Fix the failing test in test_api.py.
Add a --verbose flag to the command.
what does the parser do with empty lines
The test suite takes 40 seconds now.
I ran it again and got the same error.
Can you explain how the cache works?
could you add a retry there
the docs say `never call this twice`, is that still true?
The error was "value must be a string".
It says that the name must not be empty, but it isn't.
I never understood that function.
We have to find out who calls it.
I have to go now, thanks.
looks good, commit it
yes
do 1 and 3
go with option b
The endpoint returns 404 when the user is missing.
rename it to fetch_all and move it to util.py
it seems that the lock is never released
he told me the limit must never be reached
Since the update we always get a timeout.
the build is green again
I don't see the difference.
we don't have a staging server
I think we always did that wrong.
They don't answer my mails.
don't commit yet
Not now.
Why don't we just use a queue?
don't know, try it
What happens if the file must be read twice?
and then it stops without any message
The old parser was faster.
Can we use a dict instead of a list here?
is it possible to keep both?
That's the only file that uses it.
You can always ask the database.
I wonder whether it must be sorted.
Remember the bug from last week?
show me all the places where we use float
it has to do with the encoding I guess
next, the report
the number of rows must have grown
Das funktioniert nicht.
Warum geht das nie?
Ich muss gleich los.
Der Fehler tritt immer beim Start auf.
Ça ne marche pas.
Je ne sais pas pourquoi.
C'est toujours pareil.
No funciona en mi máquina.
Siempre falla en el segundo intento.
No sé qué pasa aquí.
这个函数为什么不能工作?
测试没有通过。
必须要吗?
なぜ動かないのですか？
テストが失敗しました。
""".strip().splitlines()
