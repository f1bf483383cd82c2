"""Documents of a known kind come down to the fields that matter, in YAML as in JSON."""

from __future__ import annotations

import json

import pytest
import yaml

from aider_gardener.compress import Context, compress_text
from aider_gardener.compress.structured.compressor import READERS, known_document
from aider_gardener.messages import ContentClass, Focus
from aider_gardener.reading.classify import classify
from aider_gardener.tokens import approximate

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: prod
  labels: {{app: {name}, tier: backend, managed-by: Helm}}
spec:
  replicas: {number}
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}, tier: backend, managed-by: Helm}}
    spec:
      containers:
        - name: {name}
          image: registry.example.org/{name}:1.{number}
          imagePullPolicy: IfNotPresent
          ports:
            - containerPort: 80{number}0
          env:
            - name: LOG_LEVEL
              value: info
            - name: DATABASE_URL
              valueFrom:
                secretKeyRef: {{name: db, key: url}}
          resources:
            requests: {{cpu: 50m, memory: 64Mi}}
            limits: {{cpu: 500m, memory: 25{number}Mi}}
          livenessProbe:
            httpGet: {{path: /live, port: http}}
            initialDelaySeconds: 5
            periodSeconds: 10
            failureThreshold: 3
"""
SERVICE = '  {name}:\n    image: ghcr.io/acme/{name}:2.{number}\n    restart: unless-stopped\n    environment:\n      - MODE=production\n      - REDIS=redis://cache/{number}\n    ports:\n      - "80{number}0:80"\n    depends_on: [db]\n    volumes:\n      - {name}_data:/var/lib/{name}\n    healthcheck:\n      test: [CMD, curl, -f, http://localhost/health]\n      interval: 30s\n      retries: 3\n    logging:\n      driver: json-file\n      options:\n        max-size: 10m\n'
JOB = "  {name}:\n    runs-on: ubuntu-{number}\n    needs: [build]\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          fetch-depth: 0\n          persist-credentials: false\n      - name: Install everything\n        run: |\n          python -m pip install --upgrade pip\n          pip install -r requirements/{name}.txt\n      - name: Run {name}\n        run: make {name}\n        env:\n          CACHE: /tmp/cache-{number}\n"
STAGE = "{name}:\n  stage: test\n  image: python:3.{number}\n  variables:\n    PIP_CACHE_DIR: .pip\n  before_script:\n    - pip install -U pip\n  script:\n    - make {name}\n    - ./report --job {name}\n  artifacts:\n    expire_in: 1 week\n    paths: [build/]\n"
STEPS = "  {name}:\n    docker:\n      - image: cimg/node:{number}\n    steps:\n      - checkout\n      - restore_cache:\n          keys: [v1-deps]\n      - run:\n          name: Run {name}\n          command: |\n            npm ci\n            npm run {name}\n"
RESOURCE = "  {name}:\n    Type: AWS::SQS::Queue\n    DependsOn: Topic\n    Properties:\n      QueueName: !Sub '${{AWS::StackName}}-{name}'\n      VisibilityTimeout: 3{number}\n      RedrivePolicy:\n        deadLetterTargetArn: !GetAtt Dead.Arn\n        maxReceiveCount: 5\n      Tags:\n        - Key: team\n          Value: payments\n"
OPERATION = "  /v1/{name}:\n    get:\n      operationId: list_{name}\n      summary: List all {name}\n      parameters:\n        - name: limit\n          in: query\n          schema: {{type: integer, maximum: {number}}}\n      responses:\n        '200':\n          description: A page of them\n          content:\n            application/json:\n              schema: {{type: array}}\n        '404':\n          description: Not there at all\n"
NAMES = ("api", "worker", "mailer", "search", "proxy", "audit", "export", "billing")


def repeated(part: str) -> str:
    return "".join(part.format(name=name, number=number + 1) for number, name in enumerate(NAMES))


DOCUMENTS = {
    "Kubernetes, 8 resources": ("---\n".join(DEPLOYMENT.format(name=name, number=number + 1) for number, name in enumerate(NAMES)),
                                ["Deployment prod/search: replicas: 4", "registry.example.org/search:1.4", "8040", "254Mi"]),
    "Compose file": ("services:\n" + repeated(SERVICE) + "volumes:\n  api_data: {}\n", ["search: ghcr.io/acme/search:2.4", "8040:80", "needs db", "volumes: api_data"]),
    "CI workflow": ("name: CI\non:\n  push:\n    branches: [main]\njobs:\n" + repeated(JOB), ["on: push", "job search: on ubuntu-4; needs build", "Run search"]),
    "GitLab pipeline": ("stages: [test]\n" + repeated(STAGE), ["job search: stage test", "make search"]),
    "CircleCI pipeline": ("version: 2.1\njobs:\n" + repeated(STEPS) + "workflows:\n  main:\n    jobs:\n      - api\n      - search:\n          requires: [api]\n",
                          ["job search: image cimg/node:4", "Run search", "workflow main: api; search after api"]),
    "CloudFormation template": ("AWSTemplateFormatVersion: '2010-09-09'\nResources:\n" + repeated(RESOURCE) + "Outputs:\n  QueueUrl:\n    Value: !Ref api\n",
                                ["8 resources: AWS::SQS::Queue × 8", "search: AWS::SQS::Queue", "VisibilityTimeout", "Outputs: QueueUrl"]),
    "OpenAPI description": ("openapi: 3.0.3\ninfo:\n  title: Shop\n  version: 1.2.0\npaths:\n" + repeated(OPERATION) + "components:\n  schemas:\n    Item:\n      type: object\n      required: [id]\n      properties:\n        id: {type: string, format: uuid}\n        price: {type: number}\n",
                            ["Shop, 1.2.0", "GET /v1/search", "200, 404", "schema Item: id"]),
}  # fmt: skip


@pytest.mark.parametrize("name", DOCUMENTS)
def test_yaml_documents_keep_what_matters(name: str) -> None:
    text, kept = DOCUMENTS[name]
    assert classify(text) == (ContentClass.STRUCTURED, "yaml")
    shown = compress_text(text, ContentClass.STRUCTURED, Context("yaml")).text
    assert shown.startswith(f"[… {name}, abridged from")
    assert [word for word in kept if word not in shown] == []
    assert approximate(shown) <= 0.45 * approximate(text)


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name.startswith(("Comp", "Open", "CI"))])
def test_the_same_documents_in_json(name: str) -> None:
    text, kept = DOCUMENTS[name]
    shown = compress_text(
        json.dumps(yaml.safe_load(text), indent=2), ContentClass.STRUCTURED, Context("json")
    ).text
    assert [word for word in kept if word not in shown] == []


def test_what_is_in_focus_is_told_in_full() -> None:
    many = "services:\n" + "".join(
        SERVICE.format(name=f"part{number}", number=number) for number in range(60)
    )
    plain = compress_text(many, ContentClass.STRUCTURED, Context("yaml")).text
    asked = compress_text(
        many, ContentClass.STRUCTURED, Context("yaml", focus=Focus(frozenset({"part47"})))
    ).text
    detail = "env MODE=production, REDIS=redis://cache/47"
    assert "part47" in plain and detail not in plain
    assert detail in asked


def test_a_list_of_pods_tells_their_state() -> None:
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"api-{i}", "namespace": "prod"}, "spec": {"nodeName": "n", "containers": [{"name": "api", "image": "api:1"}]},
             "status": {"phase": "Running", "containerStatuses": [{"restartCount": 47 if i == 5 else 0, "state": {"waiting": {"reason": "CrashLoopBackOff"}} if i == 5 else {}}]}} for i in range(12)]  # fmt: skip
    shown = compress_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}, indent=2),
        ContentClass.STRUCTURED,
        Context("json"),
    ).text
    assert "Pod prod/api-5: api api:1; Running 47 restarts CrashLoopBackOff" in shown


def test_a_notebook_keeps_sources_and_errors() -> None:
    cells = [
        {
            "cell_type": "code",
            "source": [f"frame{i} = load({i})\n", "frame.head()"],
            "outputs": [{"output_type": "stream", "text": ["row\n"] * 40}],
        }
        for i in range(9)
    ]
    cells.append(
        {
            "cell_type": "code",
            "source": "model.fit(frame)",
            "outputs": [{"ename": "KeyError", "evalue": "'churn'", "traceback": ["…"] * 30}],
        }
    )
    shown = compress_text(
        json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}, indent=1),
        ContentClass.STRUCTURED,
        Context("json"),
    ).text
    assert "[3] code: frame3 = load(3)" in shown and "raised KeyError: 'churn'" in shown


ODD = (None, 3, "text", [], {}, [1, None, "x"], {"a": None}, {"a": {"b": []}}, [[[]]], True)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_readers_take_any_value(reader: object) -> None:
    """Each known document with each of its parts, two levels down, replaced by something odd."""
    for text, _ in DOCUMENTS.values():
        top = yaml.safe_load_all(text.replace("!", "")).__next__()
        for key, part in top.items():
            for odd in ODD:
                values = [{**top, key: odd}]
                if isinstance(part, dict):
                    values += [{**top, key: {**part, inner: odd}} for inner in list(part)[:3]]
                for value in (*values, [*values], odd):
                    found = reader(value)  # type: ignore[operator]  # reason: the fixture's ids need objects
                    for detail in range(4 if found else 0):
                        assert all(isinstance(line, str) for line in found.lines(detail))
                    known_document(value)
