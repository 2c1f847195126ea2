"""Secrets go in every form people write them in; words that only sound like one stay; and the time is linear."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.model.secrets import is_secret_name, spread_secrets, without_secrets

SECRETS = [
    ("python train.py --wandb-key a1b2X9 --epochs 3", "a1b2X9"),
    ("snmp-server community cmX9 RO", "cmX9"),
    ("rocommunity cmX9 default", "cmX9"),
    ("username bob password 7 0822455D0A16", "0822455D0A16"),
    ("enable secret 5 $1$mERr$hx5rVt7", "hx5rVt7"),
    ("- name: HF_TOKEN\n  value: tkX9", "tkX9"),
    ("- name: HF_TOKEN\n  value: 'tk X9, b'", "X9"),
    ('{"name": "DB_PASSWORD",\n "value": "pw1"}', "pw1"),
    ('{"name":"HF_TOKEN","value":"tkX9"}', "tkX9"),
    ('{\\"name\\":\\"HF_TOKEN\\",\\"value\\":\\"tkX9\\"}', "tkX9"),
    ("apiVersion: v1\ndata:\n  config.json: eyJhdXRoIjo=\nkind: Secret\n", "eyJhdXRoIjo="),
    ("kind: Secret\nstringData:\n  user: |\n    rootAndMore\n    secondLine\n", "secondLine"),
    ("items:\n- apiVersion: v1\n  data:\n    user: YWRtaW4=\n  kind: Secret\n", "YWRtaW4="),
    ('{"kind": "Secret",\n "data": {\n  "user": "YWRtaW4="\n }}', "YWRtaW4="),
    ('{\\"data\\":{\\"user\\":\\"YWRtaW4=\\"},\\"kind\\":\\"Secret\\"}', "YWRtaW4="),
    ('["--api-key","akX9z"]', "akX9z"),
    ('["serve", "--api-key", "akX9z", "--port", "80"]', "akX9z"),
    ("args:\n- --api-key\n- akX9z\n- --port", "akX9z"),
    ("vllm serve m --api-key \\\n  akX9z --port 80", "akX9z"),
    ("run --password x1 --verbose", "x1"),
    ("run --token x1", "x1"),
    ("run --token=x1", "x1"),
    ("curl -u admin:pw http://h/", "admin:pw"),
    ("curl --user 'admin:p w' http://h/", "p w"),
    ('proxy_set_header Authorization "Bearer abcX9";', "abcX9"),
    ('proxy_set_header X-Api-Key "k1";', "k1"),
    ("proxy_set_header X-Api-Key k1x;", "k1x"),
    ("X-Api-Key: k1", "k1"),
    ("api-key: short", "short"),
    ('Authorization: Digest username="Mufasa", response="6629f"', "6629f"),
    ("Authorization: ApiKey abcX9==", "abcX9"),
    ("Authorization: Negotiate YIIZ", "YIIZ"),
    ("authorization: any thing at all", "thing at all"),
    ('{"Authorization": "Bearer abcX9"}', "abcX9"),
    ('{"msg": "got Authorization: Bearer abcX9", "status": 500}', "abcX9"),
    ("sent Bearer abcX9 to", "abcX9"),
    ("Cookie: session=abc; theme=dark", "abc"),
    ("< Set-Cookie: id=a3fWa; Max-Age=2592000", "a3fWa"),
    ("curl -H 'Cookie: a=b; c=d' http://h/", "c=d"),
    ("accessToken: abcX9", "abcX9"),
    ('"authToken": "abcX9"', "abcX9"),
    ("apiToken=abcX9", "abcX9"),
    ("password=12345678", "12345678"),
    ('{"password": 12345678}', "12345678"),
    ('password="two words, and; more"', "more"),
    ("password='two words'", "words"),
    ("docker run -e 'DB_PASSWORD=two words' image", "words"),
    ("password=ab,cd;ef", "ef"),
    ("password: abc", "abc"),
    ("pw_x password = a", " = a"),
    ('"{\\"password\\": \\"hunter22\\"}"', "hunter22"),
    ('"{\\"password\\": \\"hun\\\\\\"ter22\\"}"', "ter22"),
    ("redis://:pw@h:6379/0", "pw"),
    ("https://TOKEN@github.com/a/b", "TOKEN"),
    ("postgres://user:p@ss@host/db", "p@ss"),
    ("https://h/x?sig=abc%3D&se=1", "abc"),
    ("https://h/x?X-Amz-Signature=fe5f80", "fe5f80"),
    ("glpat-abcdefghij0123456789", "glpat"),
    ("gho_abcdefghij0123456789abcdefghij012345", "gho_"),
    ("npm_abcdefghij0123456789abcdefghij012345", "npm_"),
    ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "AIza"),
    ("sk_live_abcdefghij0123456789", "sk_live"),
    ("pwd=abc1", "abc1"),
    ("psk=abc1", "abc1"),
    ("password: |\n  first line\n  second line\nhost: a", "second line"),
    ("  token: >-\n    abcX9\n  host: a", "abcX9"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----", "lQOYBF"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEvQ\nAAAA", "AAAA"),
    ("the password is hunter22", "hunter22"),
    ("my token is abcdef", "abcdef"),
    ("密码：abc1", "abc1"),
    ("我的密码是abc1", "abc1"),
    ("API key: abcX9", "abcX9"),
    ("os.environ['HF_TOKEN'] = 'abcX9'", "abcX9"),
    ("<password>abc1</password>", "abc1"),
    ("litellm master_key: sk-1", "sk-1"),
    ('api_keys: ["a1b", "c2d"]', "c2d"),
    ("api_keys: [a1b, c2d]", "c2d"),
    ('{"Authorization":["Bearer abcX9"]}', "abcX9"),
    ("ENV HF_TOKEN abc1", "abc1"),
    ("sshpass -p s3cr ssh h", "s3cr"),
    ("mysql -uroot -ps3cret db", "s3cret"),
    ("redis-cli -h h -a pw1x ping", "pw1x"),
    ("machine h login u password p1x", "p1x"),
    ("requirepass p1x", "p1x"),
    ('{"auths":{"r.example":{"auth":"dXNlcjpwdw=="}}}', "dXNlcjpwdw"),
]  # fmt: skip
WORDS = [
    "asked for the password 5 times",
    "the NCCL community said so",
    "max_tokens: 4096", "tokens per second: 99", "tokenizer: x", "token ring", "2,048 tokens", "NCCL_IB_TIMEOUT=22", "num_prompt_tokens=5",
    "num_prompt_token=5", "keepalive_timeout 60", "auth_basic off;", "time to first token: 350 ms", "ms/token: 35", "eos_token_id: 2",
    "#new-token: 512, #cached-token: 1048576, token usage: 0.30", "moe_token_dispatcher_type: alltoall", "token: 15.2", "PWD=/root/x",
    "OLDPWD=/home/me", "Access denied for user (using password: YES)", "password_file: /run/x", "secretName: tls", "P_Key: 0xffff",
    "proxy_set_header Connection \"\";", "proxy_set_header Authorization $http_authorization;", "cookie SRV insert indirect",
    "export HF_TOKEN=$HF_TOKEN", "the token is invalid", "bearer token", "ssl_certificate_key /etc/ssl/a.key;", "-u 1000:1000",
    "ssh://git@192.0.2.1/x", "http://192.0.2.1:8000/v1?x=a", "kind: ConfigMap\ndata:\n  a: b", "def f(token: str, password=None)",
    "name: NCCL_DEBUG\nvalue: INFO", "imagePullSecrets:\n- name: regcred", "TcpExtSyncookiesSent: 0", "inter_token_latency_ms=35",
    "automountServiceAccountToken: false", "apiVersion: rbac.authorization.k8s.io/v1", "void dpsk::ep::dispatch", "secret::name", "secrets: []", "api_key=os.environ['API_KEY']", "-----BEGIN CERTIFICATE-----\nMIIC",
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret"), SECRETS, ids=range(len(SECRETS)))
def test_secrets_go(text: str, secret: str) -> None:
    cleaned = without_secrets(text)
    assert secret in text
    assert secret not in cleaned
    assert "[redacted]" in cleaned
    assert without_secrets(cleaned) == cleaned
    assert cleaned.count("\n") == text.count("\n"), "every line stays where it is"


@pytest.mark.parametrize("text", WORDS)
def test_words_stay(text: str) -> None:
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ('{"password": 12345678, "port": 80}', '{"password": "[redacted]", "port": 80}'),
        ("{user: a, password: b, host: c}", "{user: a, password: [redacted], host: c}"),
        ("password=a&host=b", "password=[redacted]&host=b"),
        ('{"msg": "got Authorization: Bearer abcX9", "n": 5}', '{"msg": "got Authorization: Bearer [redacted]", "n": 5}'),
        ("curl -H 'Authorization: Bearer x' http://192.0.2.1/", "curl -H 'Authorization: Bearer [redacted]' http://192.0.2.1/"),
        ('proxy_set_header Authorization "Bearer abcX9";', 'proxy_set_header Authorization "Bearer [redacted]";'),
        ("redis://:pw@h1,redis://:pw2@h2", "redis://[redacted]@h1,redis://[redacted]@h2"),
        ("a: 1\nkind: Secret\ndata:\n  x: y\nb: 2\n---\ndata:\n  x: y", "a: 1\nkind: Secret\ndata:\n  x: [redacted]\nb: 2\n---\ndata:\n  x: y"),
        ("- name: A_TOKEN\n  value: b1c\n- name: B\n  value: c", "- name: A_TOKEN\n  value: [redacted]\n- name: B\n  value: c"),
    ],
)  # fmt: skip
def test_only_the_secret_goes(text: str, cleaned: str) -> None:
    assert without_secrets(text) == cleaned


def test_names() -> None:
    held = [
        "HF_TOKEN",
        "accessToken",
        "db.password",
        "PGPASSWORD",
        "AWS_ACCESS_KEY_ID",
        "apikey",
        "client-secret",
        "MYSQL_PWD",
        "X-Api-Key",
    ]
    free = [
        "max_tokens",
        "tokenizer",
        "PWD",
        "NCCL_IB_HCA",
        "password_file",
        "secretName",
        "auth_basic",
        "p_key",
        "time_per_output_token",
    ]
    assert [name for name in held if not is_secret_name(name)] == []
    assert [name for name in free if is_secret_name(name)] == []


def test_what_a_line_alone_does_not_show() -> None:
    assert spread_secrets("- name: HF_TOKEN\n  value: tkX9\npassword=other1") == {"tkX9"}
    assert "MIIE/AAA" in spread_secrets("-----BEGIN PRIVATE KEY-----\nMIIE/AAA\n-----END PRIVATE KEY-----")


@given(st.text(alphabet="apitokensword_-= :\"'\\\n@/|{}[],;&<>", max_size=60))
def test_any_text_can_be_cleaned(text: str) -> None:
    assert without_secrets(text).count("\n") == text.count("\n")


PIECES = [
    "token=[", "token=[1", "password=[ ",
    "-----BEGIN PRIVATE KEY-----\n", "a.b-c_", "password", "password=", "password=\"", "'token=", "token: |\n", "kind: Secret\n", "eyJ-",
    "eyJaaaaaaaa.", "sk-", "://", "a://b@", "--token ", "--a\n", "curl -u a", "mysql ", "redis-cli ", "\\", "password: '\\", "name: token ",
    "authorization: ", "x-authorization-", "-header a ", "密码", "Bearer ", "login a ", "a=b ", " ", "\t- ", "Cookie: a", "\"data\": {",
    "'Cookie: \"", "password=a,", "password=a,b=", "token is ", "-----BEGIN PRIVATE KEY-----AAAA\nA: b\n", "[\"", "token: [\"", "$", "$${{ ",
    "api_key_", "TokenKey", " kind: Secret\n data:\n  a: b\n", "\n", "Authorization: Digest \"", "http://a:", "Basic a", "token=\\\\\"",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_time_is_linear(piece: str) -> None:
    text = piece * (262_144 // len(piece))
    start = time.process_time()
    without_secrets(text)
    assert time.process_time() - start < 1.0, "a quarter of a megabyte: four times what it takes, for slow machines"
